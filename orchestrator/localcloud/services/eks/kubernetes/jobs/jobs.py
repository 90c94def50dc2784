"""The controller of Jobs: it makes their pods, counts how they end, and says when a Job has ended.

What it does is told in kubernetes.io/docs/concepts/workloads/controllers/job. Left out is the pause before a pod that
failed by itself is made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.jobs.policies import has_succeeded, judge, write_indexes
from orchestrator.localcloud.services.eks.kubernetes.jobs.queues import may_begin, queue_of
from orchestrator.localcloud.services.eks.kubernetes.pods import pods
from orchestrator.localcloud.services.eks.kubernetes.quotas import check_quotas
from orchestrator.localcloud.services.eks.kubernetes.resources import JOBS, PODS
from orchestrator.localcloud.services.eks.kubernetes.status import KubeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.clock import Alarm, Clock
    from orchestrator.localcloud.services.eks.kubernetes.pods.kubelet import Kubelet
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]


class _Tally:
    """What a Job's controller remembers of it."""

    def __init__(self) -> None:
        self.counted: set[str] = set()
        """The pods whose end is counted already."""
        self.succeeded: set[int] = set()
        self.failed_indexes: set[int] = set()
        self.failures: dict[int, int] = {}
        """The failures of each index that count."""
        self.alarm: Alarm | None = None


class Jobs:
    """The Jobs of one cluster. All its methods are called by whoever holds the store's lock."""

    def __init__(self, store: Store, kubelet: Kubelet, clock: Clock) -> None:
        self._store = store
        self._kubelet = kubelet
        self._clock = clock
        self.remove: Callable[[Body], None] = lambda _: None
        """Deletes a Job, with all that it owns."""
        self._tallies: dict[str, _Tally] = {}

    def start(self, job: Body) -> None:
        """Take a new Job, whose status is empty."""
        self._tallies[job["metadata"]["uid"]] = _Tally()
        self.look(job)

    def look(self, job: Body) -> None:
        """Do what a Job needs now."""
        tally = self._tallies.get(job["metadata"]["uid"])
        if tally is None or has_ended(job):
            return
        if job["spec"].get("suspend") and may_begin(self._store, job):
            job["spec"]["suspend"] = False
        if job["spec"].get("suspend"):
            self._suspend(job, tally)
        else:
            self._begin(job, tally)
            self._count(job, tally)
            if not has_ended(job):
                self._make_pods(job, tally)
        self._tell(job, tally)

    def look_for_owner(self, pod: Body) -> None:
        """Do what the Job of a pod needs now."""
        name = pod["metadata"]["labels"].get(pods.JOB_NAME, "")
        if job := self._store.find(JOBS, pod["metadata"]["namespace"], name):
            self.look(job)

    def forget(self, job: Body) -> None:
        """End a Job that is deleted."""
        tally = self._tallies.pop(job["metadata"]["uid"], None)
        if tally and tally.alarm:
            tally.alarm.cancel()

    def look_at_queued(self, queue: Body) -> None:
        """Let the Jobs begin that wait in a queue which has just been made."""
        meta = queue["metadata"]
        for job in self._store.all(JOBS, meta["namespace"]):
            if job["spec"].get("suspend") and queue_of(job) == meta["name"]:
                self.look(job)

    def _suspend(self, job: Body, tally: _Tally) -> None:
        if not pods.has_condition(job, "Suspended"):
            pods.set_condition(job, "Suspended", True, self._store.now(), "JobSuspended", "Job suspended")
        job["status"].pop("startTime", None)
        if tally.alarm:
            tally.alarm.cancel()
            tally.alarm = None
        self._end_pods(job)

    def _begin(self, job: Body, tally: _Tally) -> None:
        if "startTime" in job["status"]:
            return
        job["status"]["startTime"] = self._store.now()
        if pods.has_condition(job, "Suspended"):
            pods.set_condition(job, "Suspended", False, self._store.now(), "JobResumed", "Job resumed")
        if (seconds := job["spec"].get("activeDeadlineSeconds")) is not None:
            tally.alarm = self._clock.after(seconds, lambda: self._on_deadline(job))

    def _on_deadline(self, job: Body) -> None:
        with self._store.lock:
            if job["metadata"]["uid"] in self._tallies and not has_ended(job):
                self._fail(job, "DeadlineExceeded", "Job was active longer than specified deadline")
                self._tell(job, self._tallies[job["metadata"]["uid"]])

    # How pods end

    def _count(self, job: Body, tally: _Tally) -> None:
        for pod in self._store.owned(PODS, job):
            if not pods.has_ended(pod) or pod["metadata"]["uid"] in tally.counted:
                continue
            tally.counted.add(pod["metadata"]["uid"])
            index = pods.index_of(pod) or 0
            if index >= job["spec"]["completions"]:
                continue  # the Job has shrunk: how this one ends is nobody's business
            if pod["status"]["phase"] == "Succeeded":
                tally.succeeded.add(index)
                job["status"]["succeeded"] = len(tally.succeeded)
            elif self._count_failure(job, tally, pod, index):
                return
        if has_succeeded(job, tally.succeeded):
            message = "Matched rules at index 0"
            pods.set_condition(job, "SuccessCriteriaMet", True, self._store.now(), "SuccessPolicy", message)
            self._complete(job, "SuccessPolicy", message)
        elif len(tally.succeeded | tally.failed_indexes) >= job["spec"]["completions"]:
            if tally.failed_indexes:
                self._fail(job, "FailedIndexes", "Job has failed indexes")
            else:
                self._complete(job, "CompletionsReached", "Reached expected number of succeeded pods")

    def _count_failure(self, job: Body, tally: _Tally, pod: Body, index: int) -> bool:
        """Count the failure of a pod; return True when the Job has failed by it."""
        verdict = judge(job, pod)
        if verdict.action == "Ignore":
            return False
        job["status"]["failed"] = job["status"].get("failed", 0) + 1
        tally.failures[index] = tally.failures.get(index, 0) + 1
        if verdict.action == "FailJob":
            self._fail(job, "PodFailurePolicy", verdict.message)
            return True
        per_index = job["spec"].get("backoffLimitPerIndex")
        if verdict.action == "FailIndex" or (per_index is not None and tally.failures[index] > per_index):
            tally.failed_indexes.add(index)
            most = job["spec"].get("maxFailedIndexes")
            if most is not None and len(tally.failed_indexes) > most:
                self._fail(
                    job, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
                )
                return True
        elif sum(tally.failures.values()) > job["spec"]["backoffLimit"]:
            self._fail(job, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
            return True
        return False

    # Which pods there are to be

    def _make_pods(self, job: Body, tally: _Tally) -> None:
        spec = job["spec"]
        mine = self._store.owned(PODS, job)
        alive = [pod for pod in mine if not pods.has_ended(pod)]
        waits = spec["podReplacementPolicy"] == "Failed"
        held = {pods.index_of(pod) or 0 for pod in alive if waits or not pods.is_going(pod)}
        for pod in alive:
            if (pods.index_of(pod) or 0) >= spec["completions"] and not pods.is_going(pod):
                self._kubelet.delete(pod)
        taken = held | tally.succeeded | tally.failed_indexes
        missing = [index for index in range(spec["completions"]) if index not in taken]
        for index in missing[: max(0, spec["parallelism"] - len(held))]:
            pod = pods.make_pod(job, index if spec["completionMode"] == "Indexed" else None)
            try:
                check_quotas(self._store, PODS, pod)
            except KubeError as refusal:
                self._store.tell(JOBS, job, "Warning", "FailedCreate", f"Error creating: {refusal.message}")
                self._clock.after(1.0, lambda: self._look_again(job))
                return
            self._store.add(PODS, pod)
            self._store.tell(JOBS, job, "Normal", "SuccessfulCreate", f"Created pod: {pod['metadata']['name']}")
            self._kubelet.take(pod)

    def _look_again(self, job: Body) -> None:
        with self._store.lock:
            self.look(job)

    def _end_pods(self, job: Body) -> None:
        for pod in self._store.owned(PODS, job):
            if not pods.has_ended(pod) and not pods.is_going(pod):
                self._kubelet.delete(pod)

    # The end

    def _fail(self, job: Body, reason: str, message: str) -> None:
        now = self._store.now()
        pods.set_condition(job, "FailureTarget", True, now, reason, message)
        pods.set_condition(job, "Failed", True, now, reason, message)
        self._store.tell(JOBS, job, "Warning", reason, message)
        self._put_away(job)

    def _complete(self, job: Body, reason: str, message: str) -> None:
        now = self._store.now()
        pods.set_condition(job, "SuccessCriteriaMet", True, now, reason, message)
        pods.set_condition(job, "Complete", True, now, reason, message)
        job["status"]["completionTime"] = now
        self._store.tell(JOBS, job, "Normal", "Completed", "Job completed")
        self._put_away(job)

    def _put_away(self, job: Body) -> None:
        tally = self._tallies[job["metadata"]["uid"]]
        if tally.alarm:
            tally.alarm.cancel()
        self._end_pods(job)
        if (seconds := job["spec"].get("ttlSecondsAfterFinished")) is not None:
            self._clock.after(seconds, lambda: self.remove(job))

    def _tell(self, job: Body, tally: _Tally) -> None:
        mine = self._store.owned(PODS, job)
        alive = [pod for pod in mine if not pods.has_ended(pod)]
        active = [pod for pod in alive if not pods.is_going(pod)]
        status = job["status"]
        counts = {
            "active": len(active),
            "ready": sum(pods.has_condition(pod, "Ready") for pod in active),
            "terminating": len(alive) - len(active),
            "completedIndexes": write_indexes(tally.succeeded),
            "failedIndexes": write_indexes(tally.failed_indexes),
        }
        status.update({name: value for name, value in counts.items() if value})
        for name in [name for name, value in counts.items() if not value]:
            status.pop(name, None)
        status["uncountedTerminatedPods"] = {}
        self._store.touch(job)


def has_ended(job: Body) -> bool:
    return pods.has_condition(job, "Complete") or pods.has_condition(job, "Failed")


def with_defaults(job: Body) -> None:
    """Fill in what a Job does not say."""
    spec = job["spec"]
    indexed = spec.setdefault("completionMode", "NonIndexed") == "Indexed"
    spec.setdefault("parallelism", 1)
    if not indexed:
        spec.setdefault("completions", spec["parallelism"])
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("suspend", False)
    by_policy = "podFailurePolicy" in spec
    spec.setdefault("podReplacementPolicy", "Failed" if by_policy else "TerminatingOrFailed")
    template = (spec.setdefault("template", {})).setdefault("spec", {})
    template.setdefault("terminationGracePeriodSeconds", pods.GRACE_S)
    for container in template.get("containers") or ():
        container.setdefault("imagePullPolicy", "IfNotPresent")
        container.setdefault("resources", {})
