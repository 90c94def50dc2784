"""Looks whether all is there that every launch in a Region needs beside image and subnets: one call for each thing.

What may not be looked at is left to the launch: those who submit need not be those who set the account up.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessDenied, InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.ec2.staging.subnets import Subnet

log = logging.getLogger(__name__)

_EC2 = "ec2.amazonaws.com"
_DEPLOY = "`sweep infra deploy` makes it; or name one that is there as platforms.ec2.instance_profile"


def check_profile(name: str, region: str, clients: Clients) -> None:
    """Raise NotFound unless there is an instance profile of this name or ARN, with a role that EC2 may take on."""
    name = name.rpartition("/")[2]
    with _if_granted("the instance profile", region):
        roles = find_roles(name, region, clients)
        if roles is None:
            raise NotFound(f"there is no instance profile {name}", where=region, hint=_DEPLOY)
        if why := why_no_role(roles):
            hint = "`sweep doctor` says how to mend it; or name another as platforms.ec2.instance_profile"
            raise NotFound(f"the instance profile {name} {why}", where=region, hint=hint)


def find_roles(profile: str, region: str, clients: Clients) -> list[dict[str, Any]] | None:
    """Return the roles of an instance profile, as IAM shows them; None if there is no such profile."""
    try:
        with aws_errors(f"look at the instance profile {profile}", where=region):
            answer = clients.client("iam", region).get_instance_profile(InstanceProfileName=profile)
    except NotFound:
        return None
    return list(answer["InstanceProfile"]["Roles"])


def why_no_role(roles: Sequence[Mapping[str, Any]]) -> str:
    """Return in words why instances with these roles of a profile get no credentials; nothing if they get some."""
    if not roles:
        return "has no role: its instances may do nothing"
    if not _trusts_ec2(roles[0].get("AssumeRolePolicyDocument") or {}):
        return f"has the role {roles[0]['RoleName']}, which does not let EC2 take it on"
    return ""


def _trusts_ec2(trust: Mapping[str, Any]) -> bool:
    statements = trust.get("Statement") or []
    for one in statements if isinstance(statements, list) else [statements]:
        principal = one.get("Principal") or {}
        services = principal.get("Service", ()) if isinstance(principal, dict) else principal
        if one.get("Effect") == "Allow" and {_EC2, "*"} & set([services] if isinstance(services, str) else services):
            return True
    return False


def check_groups(names: Sequence[str], subnets: Sequence[Subnet], region: str, clients: Clients) -> None:
    """Raise NotFound unless these security groups are there, in the VPC of these subnets."""
    at = f"platforms.ec2.network.{region}"
    vpcs = sorted({subnet.vpc for subnet in subnets})
    if len(vpcs) > 1:
        message = f"the subnets lie in several VPCs: {', '.join(vpcs)}"
        raise NotFound(message, where=region, hint=f"name those of one VPC under {at}.subnets")
    if not names:
        return
    with _if_granted("the security groups", region):
        try:
            with aws_errors("look at the security groups", where=region):
                answer = clients.client("ec2", region).describe_security_groups(GroupIds=list(names))
        except (NotFound, InvalidRequest) as error:
            hint = f"name groups that are there under {at}.security_groups"
            raise NotFound(error.message, where=region, hint=hint) from error
        for group in answer["SecurityGroups"]:
            if group.get("VpcId") and group["VpcId"] not in vpcs:
                message = f"the security group {group['GroupId']} lies in {group['VpcId']}, the subnets in {vpcs[0]}"
                raise NotFound(message, where=region, hint=f"name groups of that VPC under {at}.security_groups")


def check_key_pair(name: str, region: str, clients: Clients) -> None:
    """Raise NotFound unless there is a key pair of this name, if there is a name."""
    if not name:
        return
    with _if_granted("the key pair", region):
        try:
            with aws_errors(f"look at the key pair {name}", where=region):
                clients.client("ec2", region).describe_key_pairs(KeyNames=[name])
        except (NotFound, InvalidRequest) as error:
            hint = "each Region has its own: name one that is there as platforms.ec2.key_name, or leave it out"
            raise NotFound(f"there is no key pair {name}", where=region, hint=hint) from error


@contextmanager
def _if_granted(what: str, region: str) -> Iterator[None]:
    try:
        yield
    except AccessDenied as error:
        log.info("%s is not looked at in %s: %s", what, region, error.message)
