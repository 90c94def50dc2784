"""Begins and ends faults at their times, and tells the services of those that are not about calls.

These befall capacity, quotas, instances and processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.localcloud.faults.faults import CALLS, DISRUPTIONS
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2 import capacity as ec2
from orchestrator.localcloud.services.ec2.lifecycle import NOTICE_S
from orchestrator.localcloud.services.ec2.vcpus import VcpuKey
from orchestrator.localcloud.services.quotas import QuotaKey
from orchestrator.localcloud.services.sagemaker.capacity import Shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.faults.faults import Active, Fault, Faults
    from orchestrator.localcloud.services.batch.api import Batch
    from orchestrator.localcloud.services.ec2.instance import Instance
    from orchestrator.localcloud.services.ec2.lifecycle import InstanceLifecycle
    from orchestrator.localcloud.services.eks.api import Eks
    from orchestrator.localcloud.services.quotas import Quotas
    from orchestrator.localcloud.services.sagemaker.api import Trainings
    from orchestrator.localcloud.services.sagemaker.lifecycle import Lifecycle


@dataclass(frozen=True)
class CloudFaults:
    """Faults from the moment they are asked for to the moment they end."""

    faults: Faults
    clock: Clock
    quotas: Quotas
    lifecycle: Lifecycle
    batch: Mapping[str, Batch]
    trainings: Mapping[str, Trainings]
    clusters: Mapping[str, Eks]
    instances: InstanceLifecycle
    ec2_capacity: ec2.Capacity

    def add(self, fault: Fault) -> Active:
        """Take a fault in. It begins at once or after its delay, and ends after the time that it lasts.

        Raises AwsError when it begins at once and what it names does not run.
        """
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
            if fault.kind not in CALLS:
                active.undo = self._cause(fault)
        except AwsError:
            self.faults.remove(active.number)
            raise
        active.begun = True
        if fault.lasts is not None:
            self.clock.after(fault.lasts, lambda: self.faults.remove(active.number))
        if fault.kind in DISRUPTIONS:  # it has happened, once
            self.faults.remove(active.number)

    def _cause(self, fault: Fault) -> Callable[[], None] | None:
        """Tell the services, and return a call that undoes it; None when nothing can be undone."""
        if fault.kind == "quota":
            return self._quota(fault) if _of_sagemaker(fault) else self._vcpu_quota(fault)
        if fault.kind == "capacity":
            return self._shortage(fault)
        if fault.kind in ("forget", "admission"):
            return self._change_api(fault)
        if not self._disrupt(fault):
            raise AwsError(
                "LocalCloudError", f"{fault.kind}: nothing of the name {fault.what} runs, or it is not spot", 404
            )
        return None

    def _shortage(self, fault: Fault) -> Callable[[], None]:
        """Let all services that a type is one of lack instances. Return a call that ends it."""
        name = fault.instance_type
        undo: list[Callable[[], None]] = []
        if fault.zone is None and (name is None or _of_sagemaker(fault)):
            shortage = Shortage(fault.region, name, fault.spot)
            self.lifecycle.add_shortage(shortage, fault.seconds)
            undo.append(lambda: self.lifecycle.end_shortage(shortage))
        if not _of_sagemaker(fault):
            of_ec2 = ec2.Shortage(fault.region, fault.zone, name, fault.spot)
            self.ec2_capacity.add_shortage(of_ec2, fault.seconds)
            undo.append(lambda: self.ec2_capacity.end_shortage(of_ec2))
        if fault.zone is None:
            enough = self.clusters[fault.region].add_shortage(name, fault.spot)
            self.clock.after(fault.seconds, enough)
            undo.append(enough)

        def end() -> None:
            for each in undo:
                each()

        return end

    def _change_api(self, fault: Fault) -> Callable[[], None]:
        """Let a cluster's API forget a field, or refuse Jobs; return a call that undoes it."""
        requests = self.clusters[fault.region].cluster.requests
        changed = requests.forgotten if fault.kind == "forget" else requests.refusals
        changed.append(fault.what)
        return lambda: changed.remove(fault.what)

    def _quota(self, fault: Fault) -> Callable[[], None]:
        """Set SageMaker's quotas, and return a call that sets them back."""
        before = {}
        for spot in _purchases(fault):
            key = QuotaKey(fault.region, fault.instance_type or "", spot)
            before[key] = self.quotas.limit(key)
            self.quotas.set(key, fault.value)

        def undo() -> None:
            for key, value in before.items():
                self.quotas.set(key, value)

        return undo

    def _vcpu_quota(self, fault: Fault) -> Callable[[], None]:
        """Set EC2's quotas of an instance type's family, and return a call that sets them back."""
        quotas = self.quotas.vcpus
        keys = [VcpuKey.of(fault.region, fault.instance_type or "", spot=spot) for spot in _purchases(fault)]
        before = {key: quotas.limit(key) for key in keys}
        for key in keys:
            quotas.set(key, fault.value)

        def undo() -> None:
            for key, value in before.items():
                quotas.set(key, value)

        return undo

    def _disrupt(self, fault: Fault) -> bool:
        """Let a fault befall whatever it names. Return False when nothing of that name runs."""
        trainings = [service.jobs[fault.what] for service in self.trainings.values() if fault.what in service.jobs]
        actions = {"reclaim": self.lifecycle.interrupt, "crash": self.lifecycle.crash, "kill": self.lifecycle.kill}
        disrupted = [actions[fault.kind](training) for training in trainings if fault.kind in actions]
        disrupted += [self._disrupt_instance(fault, each) for each in self.instances.named(fault.what)]
        for service in self.batch.values():
            if (job := service.jobs.get(fault.what)) and fault.kind in actions:
                disrupted.append(service.scheduler.kill(job, reclaim=fault.kind == "reclaim"))
        for cluster in (cluster for service in self.clusters.values() for cluster in service.running):
            befall = {
                "reclaim": cluster.reclaim,
                "crash": cluster.lose,
                "kill": cluster.kill,
                "evict": cluster.push_out,
            }
            if fault.kind in befall:
                disrupted.append(befall[fault.kind](fault.what))
        return any(disrupted)

    def _disrupt_instance(self, fault: Fault, instance: Instance) -> bool:
        if fault.kind == "reclaim":
            return self.instances.take_back(instance, fault.seconds or NOTICE_S)
        actions = {
            "rebalance": self.instances.recommend_rebalance,
            "crash": self.instances.crash,
            "kill": self.instances.kill,
        }
        return fault.kind in actions and actions[fault.kind](instance)


def _of_sagemaker(fault: Fault) -> bool:
    return (fault.instance_type or "").startswith("ml.")


def _purchases(fault: Fault) -> tuple[bool, ...]:
    return (False, True) if fault.spot is None else (fault.spot,)
