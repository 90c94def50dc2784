"""AWS::Scheduler::ScheduleGroup and AWS::SNS::Topic."""

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
