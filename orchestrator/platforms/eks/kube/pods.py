"""Reads from a Job's pods how far each has come, and what is the matter with one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.eks.kube.nodes import ZONE

if TYPE_CHECKING:
    from collections.abc import Mapping

Body = dict[str, Any]

_NEVER = ("InvalidImageName", "CreateContainerConfigError", "CreateContainerError", "RunContainerError")
_PULLING = ("ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable")
INDEX = "batch.kubernetes.io/job-completion-index"
PENDING, RUNNING, ENDED = "pending", "running", "ended"


@dataclass(frozen=True)
class Pod:
    """One pod, as its cluster shows it."""

    name: str
    phase: str
    """`pending`, `running` or `ended`."""
    began_at: float | None = None
    """Seconds since the epoch, when its container began; None while it has not."""
    ended_at: float | None = None
    """When its container ended; or, where its node did not live to say so, when its cluster counted it as ended."""
    exit_code: int = 0
    unschedulable_since: float | None = None
    """Since when no node has room for it; None if one has."""
    waits_for: str = ""
    """Why no node has room for it, or what keeps its container from beginning, in the cluster's words."""
    cannot_pull: bool = False
    """Its image cannot be pulled."""
    cannot_begin: bool = False
    """Its container cannot be made, for another reason."""
    made_at: float = 0.0
    placed_at: float | None = None
    """When it was given a node; None if it has none."""
    gone_by: float | None = None
    """When it is to be gone, grace and all, if somebody wants its end; None if nobody does."""
    disrupted: str = ""
    """Why it had to leave its node; empty if it had not."""
    killed_for: str = ""
    """Why its container was ended, where the cluster says it: OOMKilled, StartError."""
    message: str = ""
    index: int = 0
    """Which of its training's instances it is."""
    node: str = ""
    """The name of its node; empty if it has none."""
    zone: str = ""
    """The zone of its node, where its cluster tells pods theirs; else empty."""


def read_pod(body: Body) -> Pod:
    """Return what a pod's status says."""
    status = body.get("status") or {}
    state = (status.get("containerStatuses") or [{}])[0].get("state") or {}
    waiting, ran, over = (state.get(name) or {} for name in ("waiting", "running", "terminated"))
    phase = {"Running": RUNNING, "Succeeded": ENDED, "Failed": ENDED}.get(status.get("phase", ""), PENDING)
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    unplaced = conditions.get("PodScheduled", {})
    no_room = unplaced.get("status") == "False" and unplaced.get("reason") == "Unschedulable"
    left = conditions.get("DisruptionTarget", {})
    why_left = one_line(left.get("message") or left.get("reason") or "") if left.get("status") == "True" else ""
    began = over.get("startedAt") or ran.get("startedAt")
    labels = body["metadata"].get("labels") or {}
    return Pod(
        name=body["metadata"]["name"],
        phase=phase,
        began_at=epoch(began),
        ended_at=epoch(over.get("finishedAt")) or (_given_up(conditions) if phase == ENDED else None),
        exit_code=int(over.get("exitCode") or 0),
        unschedulable_since=epoch(unplaced.get("lastTransitionTime")) if no_room and phase == PENDING else None,
        waits_for=one_line(unplaced.get("message") if no_room else waiting.get("message") or waiting.get("reason")),
        cannot_pull=waiting.get("reason") in _PULLING,
        cannot_begin=waiting.get("reason") in _NEVER,
        made_at=epoch(body["metadata"].get("creationTimestamp")) or 0.0,
        placed_at=epoch(unplaced.get("lastTransitionTime")) if unplaced.get("status") == "True" else None,
        gone_by=epoch(body["metadata"].get("deletionTimestamp")),
        disrupted=why_left,
        killed_for=str(over.get("reason") or "") if over.get("reason") in ("OOMKilled", "StartError") else "",
        message=one_line(over.get("message") or status.get("message") or ""),
        index=int(labels.get(INDEX) or 0),
        node=str((body.get("spec") or {}).get("nodeName") or ""),
        zone=str(labels.get(ZONE) or ""),
    )


def _given_up(conditions: Mapping[str, Body]) -> float | None:
    """Return when a pod's cluster took it for ended of which no node says so."""
    given_up = (("DisruptionTarget", "True"), ("Ready", "False"))
    said = [conditions[kind] for kind, status in given_up if conditions.get(kind, {}).get("status") == status]
    return max(filter(None, (epoch(one.get("lastTransitionTime")) for one in said)), default=None)


def epoch(text: str | None) -> float | None:
    """Return a moment of Kubernetes in seconds since the epoch."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else None


def one_line(text: object) -> str:
    return " ".join(str(text or "").split())
