"""The account that the settings name."""

from __future__ import annotations

import pytest

from orchestrator.account import account
from orchestrator.errors import SettingsError
from orchestrator.settings.settings import Settings

ROLE, LAUNCHER, STARTER = (
    f"arn:aws:iam::{number}:role/r" for number in ("111111111111", "222222222222", "333333333333")
)


def settings(**changes: str | None) -> Settings:
    return Settings(
        bucket="b", region_bucket="b-{region}", launcher_image="{account}.dkr.{region}/launcher:1", **changes
    )


def test_no_role_of_trainings_is_asked_for() -> None:
    found = account(settings(job_role=LAUNCHER, execution_role=STARTER))
    container = found.definition["containerProperties"]
    assert (found.role, found.id) == ("", "222222222222")
    assert (container["jobRoleArn"], container["executionRoleArn"]) == (LAUNCHER, STARTER)
    assert container["image"] == "222222222222.dkr.us-east-1/launcher:1"


@pytest.mark.parametrize(
    ("roles", "number"),
    [
        ({"role": ROLE}, "111111111111"),
        ({"role": ROLE, "job_role": LAUNCHER}, "222222222222"),
        ({"role": ROLE, "execution_role": STARTER}, "333333333333"),
    ],
)
def test_any_role_says_the_account(roles: dict[str, str], number: str) -> None:
    assert account(settings(**roles)).id == number


def test_one_role_may_do_everything() -> None:
    container = account(settings(role=ROLE)).definition["containerProperties"]
    assert container["jobRoleArn"] == container["executionRoleArn"] == ROLE


def test_without_any_role_the_launcher_s_are_missed() -> None:
    with pytest.raises(SettingsError, match=r"^execution_role is not set"):
        account(settings(job_role=LAUNCHER))
    with pytest.raises(SettingsError, match=r"^job_role and execution_role are not set"):
        account(settings())


def test_what_is_no_role_s_arn_is_named() -> None:
    with pytest.raises(
        SettingsError, match=r"^job_role: not a role's ARN: 'me' \(arn:aws:iam::<account>:role/<name>\)"
    ):
        account(settings(job_role="me", role=ROLE))
