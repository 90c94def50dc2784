"""AWS::EKS::AccessEntry and AWS::EKS::PodIdentityAssociation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.cloudformation.kinds.kind import Named, Properties

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller


class AccessEntry(Named):
    properties = frozenset({"ClusterName", "PrincipalArn", "Type", "AccessPolicies"})
    fixed = frozenset({"ClusterName", "PrincipalArn", "Type"})

    def create(self, caller: Caller, wanted: Properties) -> str:
        asked = {"clusterName": wanted["ClusterName"], "principalArn": wanted["PrincipalArn"]}
        caller.client("eks").create_access_entry(**asked)
        return f"{wanted['PrincipalArn']}|{wanted['ClusterName']}"

    def configure(self, caller: Caller, physical: str, wanted: Properties) -> None:
        self.update(caller, physical, wanted)

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        """Give the entry exactly these policies."""
        eks, asked = caller.client("eks"), _named(physical)
        for policy in wanted.get("AccessPolicies", ()):
            eks.associate_access_policy(
                **asked, policyArn=policy["PolicyArn"], accessScope=_as_eks_writes(policy["AccessScope"])
            )
        kept = {policy["PolicyArn"] for policy in wanted.get("AccessPolicies", ())}
        for policy in eks.list_associated_access_policies(**asked)["associatedAccessPolicies"]:
            if policy["policyArn"] not in kept:
                eks.disassociate_access_policy(**asked, policyArn=policy["policyArn"])

    def read(self, caller: Caller, physical: str) -> Properties | None:
        eks, asked = caller.client("eks"), _named(physical)
        try:
            entry = eks.describe_access_entry(**asked)["accessEntry"]
        except eks.exceptions.ResourceNotFoundException:
            return None
        policies = eks.list_associated_access_policies(**asked)["associatedAccessPolicies"]
        return {
            "ClusterName": entry["clusterName"],
            "PrincipalArn": entry["principalArn"],
            "Type": entry["type"],
            "AccessPolicies": [
                {"PolicyArn": each["policyArn"], "AccessScope": _as_cloudformation_writes(each["accessScope"])}
                for each in policies
            ],
        }

    def delete(self, caller: Caller, physical: str) -> None:
        eks = caller.client("eks")
        try:
            eks.delete_access_entry(**_named(physical))
        except eks.exceptions.ResourceNotFoundException:
            return


class PodIdentityAssociation(Named):
    properties = frozenset({"ClusterName", "Namespace", "ServiceAccount", "RoleArn"})
    fixed = frozenset({"ClusterName", "Namespace", "ServiceAccount"})

    def create(self, caller: Caller, wanted: Properties) -> str:
        asked = {name[:1].lower() + name[1:]: value for name, value in wanted.items()}
        made = caller.client("eks").create_pod_identity_association(**asked)["association"]
        return f"{made['clusterName']}|{made['associationId']}"

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        cluster, _, number = physical.partition("|")
        caller.client("eks").update_pod_identity_association(
            clusterName=cluster, associationId=number, roleArn=wanted["RoleArn"]
        )

    def read(self, caller: Caller, physical: str) -> Properties | None:
        eks, (cluster, _, number) = caller.client("eks"), physical.partition("|")
        try:
            found = eks.describe_pod_identity_association(clusterName=cluster, associationId=number)["association"]
        except eks.exceptions.ResourceNotFoundException:
            return None
        return {name: found[name[:1].lower() + name[1:]] for name in self.properties}

    def delete(self, caller: Caller, physical: str) -> None:
        eks, (cluster, _, number) = caller.client("eks"), physical.partition("|")
        try:
            eks.delete_pod_identity_association(clusterName=cluster, associationId=number)
        except eks.exceptions.ResourceNotFoundException:
            return


def _named(physical: str) -> dict[str, str]:
    principal, _, cluster = physical.rpartition("|")
    return {"clusterName": cluster, "principalArn": principal}


def _as_eks_writes(scope: Properties) -> dict[str, Any]:
    return {name.lower(): value for name, value in scope.items()}


def _as_cloudformation_writes(scope: dict[str, Any]) -> Properties:
    return {name.capitalize(): value for name, value in scope.items()}
