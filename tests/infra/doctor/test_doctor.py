"""Whatever an account lacks is found, with the command that mends it. What we may not see is not said to lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from orchestrator.infra.doctor.doctor import examine, exit_code, in_force
from orchestrator.infra.doctor.subject import Need
from orchestrator.platforms.account.finding import ok, warning, wrong
from orchestrator.settings.settings import Settings
from tests.infra.doctor.account import ACCOUNT, REGION, SETTINGS

if TYPE_CHECKING:
    import pytest

    from orchestrator.infra.doctor.subject import Subject


def test_what_we_may_not_look_at_is_not_said_to_be_missing(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetRole")

    iam = subject.clients.client("iam", REGION)
    monkeypatch.setattr(iam, "get_role", denied)
    monkeypatch.setattr("orchestrator.infra.doctor.doctor.Clients", lambda _: subject.clients)
    found = [finding for finding in examine(SETTINGS, Need()) if finding.about in ("role", "permission")]
    assert {finding.state for finding in found} == {"warning"}
    assert all("that is not granted" in finding.message for finding in found)


def test_without_credentials_nothing_else_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    (found,) = examine(SETTINGS, Need())
    assert (found.about, found.mend, exit_code([found])) == ("credentials", "aws sso login", 4)
    assert "sweep local up -d" in found.message


def test_permissions_count_before_quotas_and_these_before_the_rest() -> None:
    other, quota = wrong("a", "b", "c", "d"), wrong("a", "b", "c", "d", 6)
    permission = wrong("a", "b", "c", "d", 4)
    assert exit_code([ok("a", "b", "c"), warning("a", "b", "c")]) == 0
    assert exit_code([other, quota, permission]) == 4
    assert exit_code([other, quota]) == 6
    assert exit_code([other]) == 1


def test_one_role_stands_in_for_all_and_runs_go_to_the_queue_in_force() -> None:
    by_hand = Settings(region=REGION, bucket="b", role=SETTINGS.role, queue="sweep")
    known = in_force(by_hand, ACCOUNT)
    assert (known.job_role, known.execution_role) == (SETTINGS.role, SETTINGS.role)
    assert (known.queue, known.lane_queue) == ("sweep", "sweep")
