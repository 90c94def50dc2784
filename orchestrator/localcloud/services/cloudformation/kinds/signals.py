"""AWS::Scheduler::ScheduleGroup, AWS::SNS::Topic and AWS::SQS::Queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.services.cloudformation.kinds.kind import Named, Properties

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller


class ScheduleGroup(Named):
    properties = frozenset({"Name"})
    fixed = frozenset({"Name"})
    named_by = "Name"

    def create(self, caller: Caller, wanted: Properties) -> str:
        caller.client("scheduler").create_schedule_group(Name=wanted["Name"])
        return str(wanted["Name"])

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        """Change nothing: a group has a name only."""

    def read(self, caller: Caller, physical: str) -> Properties | None:
        scheduler = caller.client("scheduler")
        try:
            return {"Name": scheduler.get_schedule_group(Name=physical)["Name"]}
        except scheduler.exceptions.ResourceNotFoundException:
            return None

    def delete(self, caller: Caller, physical: str) -> None:
        """Delete the group, and with it the schedules that are in it, as AWS does."""
        scheduler = caller.client("scheduler")
        try:
            scheduler.delete_schedule_group(Name=physical)
        except scheduler.exceptions.ResourceNotFoundException:
            return

    def attribute(self, caller: Caller, physical: str, name: str) -> str:
        return {"Arn": f"arn:aws:scheduler:{caller.region}:{caller.account}:schedule-group/{physical}"}[name]


class Topic(Named):
    properties = frozenset({"TopicName"})
    fixed = frozenset({"TopicName"})
    named_by = "TopicName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        return str(caller.client("sns").create_topic(Name=wanted["TopicName"])["TopicArn"])

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        """Change nothing: a topic has a name only."""

    def read(self, caller: Caller, physical: str) -> Properties | None:
        sns = caller.client("sns")
        try:
            found = sns.get_topic_attributes(TopicArn=physical)["Attributes"]
        except sns.exceptions.NotFoundException:
            return None
        return {"TopicName": found["TopicArn"].rpartition(":")[2]}

    def delete(self, caller: Caller, physical: str) -> None:
        caller.client("sns").delete_topic(TopicArn=physical)

    def physical_of(self, caller: Caller, name: str) -> str:
        return f"arn:aws:sns:{caller.region}:{caller.account}:{name}"


class Queue(Named):
    properties = frozenset({"QueueName", "MessageRetentionPeriod"})
    fixed = frozenset({"QueueName"})
    named_by = "QueueName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        sqs = caller.client("sqs")
        return str(sqs.create_queue(QueueName=wanted["QueueName"], Attributes=_settable(wanted))["QueueUrl"])

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        caller.client("sqs").set_queue_attributes(QueueUrl=physical, Attributes=_settable(wanted))

    def read(self, caller: Caller, physical: str) -> Properties | None:
        sqs = caller.client("sqs")
        try:
            found = sqs.get_queue_attributes(QueueUrl=physical, AttributeNames=["All"])["Attributes"]
        except sqs.exceptions.QueueDoesNotExist:
            return None
        name = found["QueueArn"].rpartition(":")[2]
        return {"QueueName": name, "MessageRetentionPeriod": found["MessageRetentionPeriod"]}

    def delete(self, caller: Caller, physical: str) -> None:
        sqs = caller.client("sqs")
        try:
            sqs.delete_queue(QueueUrl=physical)
        except sqs.exceptions.QueueDoesNotExist:
            return

    def physical_of(self, caller: Caller, name: str) -> str:
        return f"https://sqs.{caller.region}.amazonaws.com/{caller.account}/{name}"

    def attribute(self, caller: Caller, physical: str, name: str) -> str:
        queue = physical.rpartition("/")[2]
        return {"Arn": f"arn:aws:sqs:{caller.region}:{caller.account}:{queue}", "QueueName": queue}[name]


def _settable(wanted: Properties) -> dict[str, str]:
    return {key: str(value) for key, value in wanted.items() if key != "QueueName"}
