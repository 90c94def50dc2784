"""Who we are, by which clock, and in which Regions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.infra.doctor import identity
from orchestrator.infra.doctor.identity import Who
from tests.infra.doctor.account import ACCOUNT, SETTINGS

if TYPE_CHECKING:
    from orchestrator.infra.doctor.subject import Subject


@pytest.mark.parametrize(
    ("arn", "principal"),
    [
        (f"arn:aws:iam::{ACCOUNT}:user/ann", f"arn:aws:iam::{ACCOUNT}:user/ann"),
        (f"arn:aws:sts::{ACCOUNT}:assumed-role/dev/ann", f"arn:aws:iam::{ACCOUNT}:role/dev"),
        (f"arn:aws:iam::{ACCOUNT}:root", ""),
    ],
)
def test_the_simulator_knows_us_by_our_user_or_role(arn: str, principal: str) -> None:
    assert Who(ACCOUNT, arn, 0).principal == principal


@pytest.mark.parametrize(("ahead", "state"), [(0, "ok"), (-70, "warning"), (400, "wrong"), (-400, "wrong")])
def test_a_clock_may_be_a_little_wrong(ahead: float, state: str) -> None:
    assert identity.clock(Who(ACCOUNT, "a", ahead)).state == state


def test_settings_of_another_account_are_told() -> None:
    (found,) = identity.credentials(Who("999999999999", "a", 0), SETTINGS)
    assert (found.state, found.exit_code) == ("wrong", 4)


@pytest.mark.parametrize(
    ("regions", "mend"),
    [
        (("eu-west-1",), "sweep infra deploy --region ANOTHER"),
        (("eu-west-1", "us-east-1"), "sweep infra destroy --region eu-west-1"),
    ],
)
def test_a_region_without_a_platform_is_to_be_left(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, regions: tuple[str, ...], mend: str
) -> None:
    monkeypatch.setattr(
        "orchestrator.platforms.sagemaker.operating.SageMakerOperating.regions", lambda *_: ["us-east-1"]
    )
    found = list(identity.regions(replace(subject, names=replace(subject.names, regions=regions))))
    assert next((each.state, each.mend) for each in found) == ("wrong", mend)
