"""Looks at a training that is not known to have ended: at its Job, its pods, and what its machines have written."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.errors import AccessError, NotFound
from orchestrator.platforms.bare.assignment import UNTOLD
from orchestrator.platforms.eks.kube.api import EVENTS, JOBS, PODS
from orchestrator.platforms.eks.kube.job import read_job
from orchestrator.platforms.eks.kube.pods import ENDED, PENDING, RUNNING, read_pod
from orchestrator.platforms.eks.kube.queues import find_queue, why_inactive
from orchestrator.platforms.eks.sent.words import JOB_NAME
from orchestrator.platforms.eks.verdict import CAPACITY, FIRST_PODS_S, Seen, read_end, read_life
from orchestrator.training.bare.together.leave import INTERRUPTED, TASK

if TYPE_CHECKING:
    from orchestrator.platforms.eks.kept import Kept
    from orchestrator.platforms.eks.kube.api import KubeApi
    from orchestrator.platforms.eks.kube.job import Job
    from orchestrator.platforms.eks.kube.pods import Pod
    from orchestrator.wire.result import Attempt, Outcome

_PULL_S = 300.0
"""Seconds for which an image may fail to be pulled: a registry may be away for a moment."""
_GHOST_S = 900.0
"""Seconds for which a pod is waited for that should have gone: one on a node that is lost may stay for ever."""
_BEGIN_S = 1800.0
"""Seconds that a pod may take to begin on its node, at least: for a large image, and for volumes to be mounted."""


class Look:
    """One look at a training that is not known to have ended."""

    def __init__(self, attempt: Attempt, claim: dict[str, Any], api: KubeApi, kept: Kept) -> None:
        self.attempt = attempt
        self.claim = claim
        self.api = api
        self.kept = kept
        self.namespace = str(claim["namespace"])
        self.pods: tuple[Pod, ...] = ()
        """The pods that were seen last."""

    def outcome(self) -> Outcome | None:
        """Return how it stands; None when it was never started."""
        try:
            answer = self.api.get(JOBS, self.namespace, self.attempt.training)
            job, now = read_job(answer.body), answer.now
        except NotFound:
            job, now = None, time.time()
        pods = self._pods()
        alive = [pod for pod in pods if pod.phase != ENDED and not _is_ghost(pod, now)]
        if job is not None and not job.state:
            return self._life(job, pods, now)
        waited = job.ended_at is not None and now > job.ended_at + _GHOST_S if job else False
        if alive and not waited:
            return read_life(self.attempt, Seen(job, pods, (), None, now=now), runs=True)
        seen = self._all(job, pods, now)
        nothing = not any(seen.machines) and seen.leave is None
        if job is None and nothing and not self.kept.has_begun():
            return None
        return read_end(self.attempt, seen)

    def gone(self) -> Outcome | None:
        """Return since when all pods of a Job are gone that has ended, without asking S3; None if it has not."""
        answer = self.api.get(JOBS, self.namespace, self.attempt.training)
        job, pods = read_job(answer.body), self._pods()
        if not job.state or not pods or any(pod.phase != ENDED for pod in pods):
            return None
        ended = max(pod.ended_at or job.ended_at or answer.now for pod in pods)
        life = read_life(self.attempt, Seen(job, pods, (), None, now=ended), runs=True)
        return replace(life, lost_at=ended, waits_for=UNTOLD)

    def _life(self, job: Job, pods: tuple[Pod, ...], now: float) -> Outcome:
        """Return the outcome of a Job that has not ended; tell it to leave if it cannot begin."""
        pending = [pod for pod in pods if pod.phase == PENDING]
        running = sum(pod.phase == RUNNING for pod in pods)
        least = int(self.claim.get("least") or 0)
        are_made = len(pods) >= self.attempt.instances
        runs = running >= least if least else bool(running) and are_made and not pending
        cause, why = ("", "") if least else self._lost(pods, now)
        if not (cause or runs or job.suspended):
            cause, why = self._why_not(job, pods, now)
        if cause and self.kept.leave() is None:
            self.kept.ask_to_leave(cause, why)
            with suppress(AccessError, NotFound):  # whoever only looks cannot end it: its launcher does
                self.api.delete(JOBS, self.namespace, self.attempt.training)
        lost_at = self._short_since(job, pending) if least and not runs else None
        life = read_life(self.attempt, Seen(job, pods, (), None, now=now), runs=runs or lost_at is not None)
        return replace(life, lost_at=lost_at, waits_for=self._held_back(job, now))

    def _held_back(self, job: Job, now: float) -> str:
        """Return what a Job waits for that is suspended for longer than patience; nothing while that may be."""
        patience = float(self.claim["patience_s"])
        if not job.suspended or job.suspended_since is None or now <= job.suspended_since + patience:
            return ""
        if not job.queue:
            return f"somebody has suspended its Job {self.attempt.training}, and no queue lets it begin"
        queue = f"Kueue's LocalQueue {job.queue} in {self.api.region} {self.api.cluster}"
        try:
            stopped = why_inactive(find_queue(self.api, self.namespace, job.queue))
        except NotFound as error:
            return f"its Job waits for ever: {error.message} of {self.api.region} {self.api.cluster}"
        except AccessError:
            look = f"kubectl get localqueue {job.queue} --namespace {self.namespace}"
            return f"its Job waits in {queue}; launchers may not look whether there is one: `{look}` tells"
        return f"{queue} lets nothing begin: {stopped}" if stopped else f"its Job waits for its turn in {queue}"

    def _short_since(self, job: Job, pending: list[Pod]) -> float | None:
        """Return since when an elastic training that ran has had too few pods; None if it has not begun yet."""
        first = [pod.made_at for pod in pending if pod.made_at > (job.began_at or pod.made_at) + FIRST_PODS_S]
        least, instances = int(self.claim["least"]), self.attempt.instances
        return min(first) if first and len(self.kept.arrivals(instances)) >= least else None

    def _why_not(self, job: Job, pods: tuple[Pod, ...], now: float) -> tuple[str, str]:
        """Return with which cause, and why, a Job is to be given up that does not begin; nothing while it may."""
        patience = float(self.claim["patience_s"])
        for pod in pods:
            if pod.unschedulable_since is not None and now > pod.unschedulable_since + patience:
                return CAPACITY, f"no node has room for {pod.name}: {pod.waits_for}"
            if (pod.cannot_pull or pod.cannot_begin) and now > pod.made_at + min(patience, _PULL_S):
                return TASK, f"{pod.name} cannot begin: {pod.waits_for}"
            is_stuck = pod.phase == PENDING and pod.placed_at is not None
            if is_stuck and now > (pod.placed_at or now) + max(patience, _BEGIN_S):
                return CAPACITY, f"{pod.name} does not begin on its node: {self._last_event(pod.name)}"
        missing = len(pods) < self.attempt.instances
        if missing and job.began_at is not None and now > job.began_at + patience:
            return CAPACITY, f"not all of its pods were made: {self._last_event(self.attempt.training)}"
        return "", ""

    @staticmethod
    def _lost(pods: tuple[Pod, ...], now: float) -> tuple[str, str]:
        """Return which pod is on a node that does not answer: its Job would wait for its end for ever."""
        for pod in pods:
            if pod.phase != ENDED and _is_ghost(pod, now):
                why = pod.disrupted or "somebody wanted its end"
                return INTERRUPTED, f"{pod.name} is on a node that does not answer: {why}"
        return "", ""

    def _all(self, job: Job | None, pods: tuple[Pod, ...], now: float) -> Seen:
        machines = tuple(self.kept.machines(self.attempt.instances))
        failed = next((pod for pod in pods if pod.exit_code and not pod.killed_for), None)
        words = self._last_words(failed) if failed and not any(machines) else ""
        since = () if any(machines) else self.kept.arrivals(self.attempt.instances)
        return Seen(job, pods, machines, self.kept.leave(), words, now, bool(self.claim.get("least")), since)

    def _pods(self) -> tuple[Pod, ...]:
        chosen = {"labelSelector": f"{JOB_NAME}={self.attempt.training}"}
        self.pods = tuple(read_pod(body) for body in self.api.list(PODS, self.namespace, **chosen))
        return self.pods

    def _last_words(self, pod: Pod) -> str:
        with suppress(NotFound, AccessError):  # the reason is poorer without it, and as true
            lines = self.api.log(self.namespace, pod.name, 5).splitlines()
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ""

    def _last_event(self, name: str) -> str:
        chosen = {"fieldSelector": f"involvedObject.name={name}"}
        told = [str(event.get("message", "")) for event in self.api.list(EVENTS, self.namespace, **chosen)]
        return " ".join(told[-1].split()) if told else "the cluster does not say why"


def end_without_cluster(attempt: Attempt, claim: dict[str, Any], kept: Kept) -> Outcome:
    """Return how a training has ended whose cluster is gone with its Job, by what its machines have written.

    When the cluster went is not known: a training has run for as long as it might, at the most.
    """
    machines = tuple(kept.machines(attempt.instances))
    since = () if any(machines) else kept.arrivals(attempt.instances)
    now = min([time.time(), *(began + attempt.max_runtime_s for began in since)])
    return read_end(attempt, Seen(None, (), machines, kept.leave(), "", now, bool(claim.get("least")), since))


def _is_ghost(pod: Pod, now: float) -> bool:
    """Say whether a pod should have gone long ago."""
    return pod.gone_by is not None and now > pod.gone_by + _GHOST_S
