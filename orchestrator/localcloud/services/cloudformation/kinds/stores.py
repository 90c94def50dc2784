"""AWS::ECR::Repository and AWS::Logs::LogGroup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.services.cloudformation.kinds.kind import Named, Properties

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller


class Repository(Named):
    properties = frozenset({"RepositoryName"})
    fixed = frozenset({"RepositoryName"})
    named_by = "RepositoryName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        caller.client("ecr").create_repository(repositoryName=wanted["RepositoryName"])
        return str(wanted["RepositoryName"])

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        """Change nothing: a repository has a name only."""

    def read(self, caller: Caller, physical: str) -> Properties | None:
        ecr = caller.client("ecr")
        try:
            (found,) = ecr.describe_repositories(repositoryNames=[physical])["repositories"]
        except ecr.exceptions.RepositoryNotFoundException:
            return None
        return {"RepositoryName": found["repositoryName"]}

    def delete(self, caller: Caller, physical: str) -> None:
        ecr = caller.client("ecr")
        try:
            ecr.delete_repository(repositoryName=physical)
        except ecr.exceptions.RepositoryNotFoundException:
            return


class LogGroup(Named):
    properties = frozenset({"LogGroupName", "RetentionInDays"})
    fixed = frozenset({"LogGroupName"})
    named_by = "LogGroupName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        name = str(wanted["LogGroupName"])
        caller.client("logs").create_log_group(logGroupName=name)
        return name

    def configure(self, caller: Caller, physical: str, wanted: Properties) -> None:
        self.update(caller, physical, wanted)

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        logs = caller.client("logs")
        if "RetentionInDays" in wanted:
            logs.put_retention_policy(logGroupName=physical, retentionInDays=int(wanted["RetentionInDays"]))
        else:
            logs.delete_retention_policy(logGroupName=physical)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        groups = caller.client("logs").describe_log_groups(logGroupNamePrefix=physical)["logGroups"]
        found = next((group for group in groups if group["logGroupName"] == physical), None)
        return found and {"LogGroupName": physical, "RetentionInDays": found.get("retentionInDays")}

    def delete(self, caller: Caller, physical: str) -> None:
        logs = caller.client("logs")
        try:
            logs.delete_log_group(logGroupName=physical)
        except logs.exceptions.ResourceNotFoundException:
            return
