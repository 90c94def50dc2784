"""AWS::Batch::ComputeEnvironment and AWS::Batch::JobQueue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.cloudformation.kinds.kind import Named, Properties

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller


class ComputeEnvironment(Named):
    properties = frozenset({"ComputeEnvironmentName", "Type", "State", "ReplaceComputeEnvironment", "ComputeResources"})
    fixed = frozenset({"ComputeEnvironmentName", "Type"})
    named_by = "ComputeEnvironmentName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        asked = {key: value for key, value in wanted.items() if key != "ReplaceComputeEnvironment"}
        asked["ComputeResources"] = _resources(wanted)
        caller.client("batch").create_compute_environment(**_as_batch_writes(asked))
        return self.physical_of(caller, wanted["ComputeEnvironmentName"])

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        resources = {key: value for key, value in _resources(wanted).items() if key != "Type"}
        caller.client("batch").update_compute_environment(
            computeEnvironment=physical, state=wanted["State"], computeResources=_as_batch_writes(resources)
        )

    def read(self, caller: Caller, physical: str) -> Properties | None:
        batch = caller.client("batch")
        found = batch.describe_compute_environments(computeEnvironments=[physical])["computeEnvironments"]
        # Only CloudFormation itself knows whether it would rather replace an environment.
        return {**_as_cloudformation_writes(found[0]), "ReplaceComputeEnvironment": False} if found else None

    def delete(self, caller: Caller, physical: str) -> None:
        if self.read(caller, physical):
            batch = caller.client("batch")
            batch.update_compute_environment(computeEnvironment=physical, state="DISABLED")
            batch.delete_compute_environment(computeEnvironment=physical)

    def physical_of(self, caller: Caller, name: str) -> str:
        return f"arn:aws:batch:{caller.region}:{caller.account}:compute-environment/{name}"


class JobQueue(Named):
    properties = frozenset({"JobQueueName", "State", "Priority", "ComputeEnvironmentOrder"})
    fixed = frozenset({"JobQueueName"})
    named_by = "JobQueueName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        asked = _as_batch_writes({**wanted, "Priority": int(wanted["Priority"])})
        return str(caller.client("batch").create_job_queue(**asked)["jobQueueArn"])

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        asked = _as_batch_writes({key: value for key, value in wanted.items() if key != "JobQueueName"})
        caller.client("batch").update_job_queue(jobQueue=physical, **asked)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        found = caller.client("batch").describe_job_queues(jobQueues=[physical])["jobQueues"]
        return _as_cloudformation_writes(found[0]) if found else None

    def delete(self, caller: Caller, physical: str) -> None:
        if self.read(caller, physical):
            batch = caller.client("batch")
            batch.update_job_queue(jobQueue=physical, state="DISABLED")
            batch.delete_job_queue(jobQueue=physical)

    def physical_of(self, caller: Caller, name: str) -> str:
        return f"arn:aws:batch:{caller.region}:{caller.account}:job-queue/{name}"


def _resources(wanted: Properties) -> Properties:
    resources = dict(wanted["ComputeResources"])
    return {**resources, "MaxvCpus": int(resources["MaxvCpus"])}


def _as_batch_writes(value: Any) -> Any:
    """Return a value whose members are called as Batch calls them: with a small letter."""
    if isinstance(value, dict):
        return {key[:1].lower() + key[1:]: _as_batch_writes(each) for key, each in value.items()}
    return [_as_batch_writes(each) for each in value] if isinstance(value, list) else value


def _as_cloudformation_writes(value: Any) -> Any:
    """Return a value whose members are called as CloudFormation calls them: with a capital."""
    if isinstance(value, dict):
        return {key[:1].upper() + key[1:]: _as_cloudformation_writes(each) for key, each in value.items()}
    return [_as_cloudformation_writes(each) for each in value] if isinstance(value, list) else value
