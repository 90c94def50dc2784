"""Faults that befall not a call but the cloud: capacity, quotas, instances, processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.localcloud.faults.faults import CALLS
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.quotas import Line
from orchestrator.localcloud.services.sagemaker.capacity import Shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.faults.faults import Active, Fault, Faults
    from orchestrator.localcloud.services.batch.api import Batch
    from orchestrator.localcloud.services.quotas import Quotas
    from orchestrator.localcloud.services.sagemaker.api import Trainings
    from orchestrator.localcloud.services.sagemaker.lifecycle import Lifecycle


@dataclass(frozen=True)
class CloudFaults:
    faults: Faults
    clock: Clock
    quotas: Quotas
    lifecycle: Lifecycle
    batch: Mapping[str, Batch]
    trainings: Mapping[str, Trainings]

    def ask(self, fault: Fault) -> Active:
        """Let it begin, at once or at its time, and end at its time."""
        active = self.faults.add(fault)
        if fault.delay:
            self.clock.after(fault.delay, lambda: self._begin(active))
        else:
            self._begin(active)
        return active

    def _begin(self, active: Active) -> None:
        fault = active.fault
        if not self.faults.holds(active.number):  # taken back before its time
            return
        try:
            active.undo = None if fault.kind in CALLS else self._happen(fault)
        except AwsError:
            self.faults.remove(active.number)
            raise
        active.begun = True
        if fault.lasts is not None:
            self.clock.after(fault.lasts, lambda: self.faults.remove(active.number))
        if fault.kind in ("reclaim", "crash", "kill"):
            self.faults.remove(active.number)

    def _happen(self, fault: Fault) -> Callable[[], None] | None:
        """How to undo it, if that can be done."""
        if fault.kind == "quota":
            return self._quota(fault)
        if fault.kind == "capacity":
            shortage = Shortage(fault.region, fault.instance_type, fault.spot)
            self.lifecycle.refuse(shortage, fault.seconds)
            return lambda: self.lifecycle.refuse(shortage, 0)
        if not self._strike(fault):
            raise AwsError(
                "LocalCloudError", f"{fault.kind}: nothing of the name {fault.what} runs, or it is not spot", 404
            )
        return None

    def _quota(self, fault: Fault) -> Callable[[], None]:
        purchases = (False, True) if fault.spot is None else (fault.spot,)
        before = {}
        for spot in purchases:
            line = Line(fault.region, fault.instance_type or "", spot)
            before[line] = self.quotas.of(line)
            self.quotas.set(line, fault.value)

        def undo() -> None:
            for line, value in before.items():
                self.quotas.set(line, value)

        return undo

    def _strike(self, fault: Fault) -> bool:
        trainings = [service.jobs[fault.what] for service in self.trainings.values() if fault.what in service.jobs]
        doings = {"reclaim": self.lifecycle.interrupt, "crash": self.lifecycle.crash, "kill": self.lifecycle.kill}
        struck = [doings[fault.kind](training) for training in trainings]
        for service in self.batch.values():
            if job := service.jobs.get(fault.what):
                struck.append(service.scheduler.strike(job, reclaim=fault.kind == "reclaim"))
        return any(struck)
