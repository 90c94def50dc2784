"""What Batch ends after a while: the cloud's clock is moved on, and nobody waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.localcloud.conftest import WAIT_FOR_SIGTERM, BatchDesk, eventually
from tests.localcloud.services.batch.test_batch import IGNORE_SIGTERM, has_printed

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud


def test_an_attempt_that_times_out_is_not_retried(batch: BatchDesk, cloud: LocalCloud) -> None:
    """[G] Job timeouts."""
    job = batch.submit(WAIT_FOR_SIGTERM, timeout={"attemptDurationSeconds": 60}, retryStrategy={"attempts": 3})
    batch.in_state(job, "RUNNING")
    cloud.advance(61)
    ended = batch.end(job)
    assert (ended["status"], ended["statusReason"]) == ("FAILED", "Job attempt duration exceeded timeout")
    assert len(ended["attempts"]) == 1


def test_who_ignores_sigterm_is_killed_30_seconds_later(
    batch: BatchDesk, client: Callable[..., Any], cloud: LocalCloud
) -> None:
    """[G] Container stop timeout."""
    job = batch.submit(IGNORE_SIGTERM)
    running = batch.in_state(job, "RUNNING")
    eventually(lambda: has_printed(client, running, "ready"))
    batch.client.terminate_job(jobId=job, reason="not needed")
    cloud.advance(31)
    assert batch.end(job)["container"]["exitCode"] == 137
