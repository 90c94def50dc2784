"""A training on bare EC2 instances ends under the real cloud-init as it does without: the platform's own user data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.ec2.sent import request
from orchestrator.wire.result import TaskState
from tests.cloud_init.test_cloud_init import booted, pytestmark
from tests.platforms.ec2.test_conformance import bucket, subject

if TYPE_CHECKING:
    import pytest

    from orchestrator.localcloud import LocalCloud
    from orchestrator.platforms.conformance.suite import Subject

__all__ = ["bucket", "pytestmark", "subject"]


def test_a_training_is_done_and_its_log_is_there(
    subject: Subject, cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = request.make_user_data
    monkeypatch.setattr(request, "make_user_data", lambda *given: booted(make(*given), cloud.endpoint))
    attempt = subject.start(subject.task(1))
    outcome = subject.outcome(attempt)
    assert (outcome.state, outcome.reason) == (TaskState.DONE, "")
    assert any("rank 0 begins" in line for _, line in subject.log(attempt))
