"""Reads from a Job whether it has ended, and why, in its cluster's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orchestrator.platforms.eks.kube.pods import epoch, one_line
from orchestrator.platforms.eks.kube.queues import LABEL as QUEUE

Body = dict[str, Any]

DONE, FAILED = "done", "failed"


@dataclass(frozen=True)
class Job:
    """A Job, as its cluster shows it."""

    state: str = ""
    """`done` or `failed`; empty while it has not ended."""
    reason: str = ""
    """Kubernetes' word for why it failed, such as PodFailurePolicy or DeadlineExceeded."""
    message: str = ""
    ended_at: float | None = None
    made_at: float | None = None
    began_at: float | None = None
    """When it was let begin: a queue may have held it back before."""
    suspended: bool = False
    """It waits in a queue, or somebody has stopped it for a while."""
    suspended_since: float | None = None
    queue: str = ""
    """Kueue's LocalQueue that it waits in, or has waited in."""


def read_job(body: Body) -> Job:
    """Return what a Job's status says."""
    status = body.get("status") or {}
    holds = {each["type"]: each for each in status.get("conditions") or () if each["status"] == "True"}
    done, failed = holds.get("Complete"), holds.get("Failed")
    state = DONE if done else FAILED if failed else ""
    last = done or failed or {}
    meta = body.get("metadata") or {}
    made_at = epoch(meta.get("creationTimestamp"))
    return Job(
        state=state,
        reason=str(last.get("reason") or ""),
        message=one_line(last.get("message")),
        ended_at=epoch(last.get("lastTransitionTime")),
        made_at=made_at,
        began_at=epoch(status.get("startTime")),
        suspended=bool(body["spec"].get("suspend")) and not last,
        suspended_since=epoch(holds.get("Suspended", {}).get("lastTransitionTime")) or made_at,
        queue=str((meta.get("labels") or {}).get(QUEUE, "")),
    )
