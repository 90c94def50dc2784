"""AWS::IAM::Role, AWS::IAM::ManagedPolicy and AWS::IAM::InstanceProfile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.cloudformation.kinds.kind import Named, Properties

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller

_LONGEST_INLINE = 10_240
_LONGEST_MANAGED = 6_144
"""Characters of a role's inline policies, and of a managed one, as IAM counts them: without white space."""


class Role(Named):
    properties = frozenset({"RoleName", "AssumeRolePolicyDocument", "Policies", "PermissionsBoundary"})
    fixed = frozenset({"RoleName"})
    named_by = "RoleName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        boundary = {"PermissionsBoundary": wanted["PermissionsBoundary"]} if "PermissionsBoundary" in wanted else {}
        name = str(wanted["RoleName"])
        trust = json.dumps(wanted["AssumeRolePolicyDocument"])
        caller.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust, **boundary)
        return name

    def configure(self, caller: Caller, physical: str, wanted: Properties) -> None:
        self._put_policies(caller, physical, wanted)

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        iam = caller.client("iam")
        iam.update_assume_role_policy(RoleName=physical, PolicyDocument=json.dumps(wanted["AssumeRolePolicyDocument"]))
        if "PermissionsBoundary" in wanted:
            iam.put_role_permissions_boundary(RoleName=physical, PermissionsBoundary=wanted["PermissionsBoundary"])
        elif (self.read(caller, physical) or {}).get("PermissionsBoundary"):
            iam.delete_role_permissions_boundary(RoleName=physical)
        self._put_policies(caller, physical, wanted)

    def _put_policies(self, caller: Caller, name: str, wanted: Properties) -> None:
        iam = caller.client("iam")
        policies = {each["PolicyName"]: each["PolicyDocument"] for each in wanted.get("Policies", ())}
        if sum(map(_length, policies.values())) > _LONGEST_INLINE:
            raise AwsError(
                "LimitExceeded", f"Maximum policy size of {_LONGEST_INLINE} bytes exceeded for role {name}", 409
            )
        for gone in set(iam.list_role_policies(RoleName=name)["PolicyNames"]) - set(policies):
            iam.delete_role_policy(RoleName=name, PolicyName=gone)
        for policy, document in policies.items():
            iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(document))

    def read(self, caller: Caller, physical: str) -> Properties | None:
        iam = caller.client("iam")
        try:
            role = iam.get_role(RoleName=physical)["Role"]
        except iam.exceptions.NoSuchEntityException:
            return None
        found = (
            iam.get_role_policy(RoleName=physical, PolicyName=policy)
            for policy in iam.list_role_policies(RoleName=physical)["PolicyNames"]
        )
        policies = [{"PolicyName": each["PolicyName"], "PolicyDocument": each["PolicyDocument"]} for each in found]
        return {
            "RoleName": role["RoleName"],
            "AssumeRolePolicyDocument": role["AssumeRolePolicyDocument"],
            "PermissionsBoundary": role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn"),
            "Policies": policies,
        }

    def delete(self, caller: Caller, physical: str) -> None:
        iam = caller.client("iam")
        try:
            for policy in iam.list_role_policies(RoleName=physical)["PolicyNames"]:
                iam.delete_role_policy(RoleName=physical, PolicyName=policy)
            iam.delete_role(RoleName=physical)
        except iam.exceptions.NoSuchEntityException:
            return

    def attribute(self, caller: Caller, physical: str, name: str) -> str:
        return {"Arn": f"arn:aws:iam::{caller.account}:role/{physical}"}[name]


class ManagedPolicy(Named):
    properties = frozenset({"ManagedPolicyName", "PolicyDocument"})
    fixed = frozenset({"ManagedPolicyName"})
    named_by = "ManagedPolicyName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        _check_length(wanted)
        made = caller.client("iam").create_policy(
            PolicyName=wanted["ManagedPolicyName"], PolicyDocument=json.dumps(wanted["PolicyDocument"])
        )
        return str(made["Policy"]["Arn"])

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        _check_length(wanted)
        iam = caller.client("iam")
        iam.create_policy_version(
            PolicyArn=physical, PolicyDocument=json.dumps(wanted["PolicyDocument"]), SetAsDefault=True
        )
        self._drop_old_versions(iam, physical)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        iam = caller.client("iam")
        try:
            policy = iam.get_policy(PolicyArn=physical)["Policy"]
        except iam.exceptions.NoSuchEntityException:
            return None
        version = iam.get_policy_version(PolicyArn=physical, VersionId=policy["DefaultVersionId"])
        return {"ManagedPolicyName": policy["PolicyName"], "PolicyDocument": version["PolicyVersion"]["Document"]}

    def delete(self, caller: Caller, physical: str) -> None:
        iam = caller.client("iam")
        try:
            self._drop_old_versions(iam, physical)
            iam.delete_policy(PolicyArn=physical)
        except iam.exceptions.NoSuchEntityException:
            return

    def physical_of(self, caller: Caller, name: str) -> str:
        return f"arn:aws:iam::{caller.account}:policy/{name}"

    def _drop_old_versions(self, iam: Any, arn: str) -> None:
        for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
            if not version["IsDefaultVersion"]:
                iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])


class InstanceProfile(Named):
    properties = frozenset({"InstanceProfileName", "Roles"})
    fixed = frozenset({"InstanceProfileName"})
    named_by = "InstanceProfileName"

    def create(self, caller: Caller, wanted: Properties) -> str:
        name = str(wanted["InstanceProfileName"])
        caller.client("iam").create_instance_profile(InstanceProfileName=name)
        return name

    def configure(self, caller: Caller, physical: str, wanted: Properties) -> None:
        self.update(caller, physical, wanted)

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        iam, there = caller.client("iam"), set((self.read(caller, physical) or {"Roles": []})["Roles"])
        for role in there - set(wanted["Roles"]):
            iam.remove_role_from_instance_profile(InstanceProfileName=physical, RoleName=role)
        for role in set(wanted["Roles"]) - there:
            iam.add_role_to_instance_profile(InstanceProfileName=physical, RoleName=role)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        iam = caller.client("iam")
        try:
            found = iam.get_instance_profile(InstanceProfileName=physical)["InstanceProfile"]
        except iam.exceptions.NoSuchEntityException:
            return None
        return {"InstanceProfileName": physical, "Roles": [role["RoleName"] for role in found["Roles"]]}

    def delete(self, caller: Caller, physical: str) -> None:
        found = self.read(caller, physical)
        if found is not None:
            self.update(caller, physical, {"Roles": []})
            caller.client("iam").delete_instance_profile(InstanceProfileName=physical)


def _check_length(wanted: Properties) -> None:
    if _length(wanted["PolicyDocument"]) > _LONGEST_MANAGED:
        raise AwsError("LimitExceeded", f"Cannot exceed quota for PolicySize: {_LONGEST_MANAGED}", 409)


def _length(document: Any) -> int:
    return len(json.dumps(document, separators=(",", ":")))
