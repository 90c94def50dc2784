"""Looks at all that trainings need of EC2 in one Region: profile, subnets, groups, images. Nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.account.networks import way_out
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import InvalidRequest, NotFound, SpecError
from orchestrator.platforms.account.finding import DEPLOY, carefully, ok, warning, wrong
from orchestrator.platforms.ec2.asked import KEY, read_asked, read_settings
from orchestrator.platforms.ec2.staging.amis import image_name, pin_image
from orchestrator.platforms.ec2.staging.launch_needs import find_roles, why_no_role
from orchestrator.platforms.ec2.staging.stage import types_of_ours
from orchestrator.platforms.ec2.staging.subnets import find_subnets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.account.wanted import Wanted
    from orchestrator.platforms.ec2.asked import Machines


def check(clients: Clients, wanted: Wanted) -> Iterator[Finding]:
    """Yield how each thing stands that instances in a Region need."""
    settings, region = read_settings(wanted.settings), wanted.region
    asked = read_asked(wanted.sweep, settings) if wanted.sweep else settings
    yield from carefully("instance profile", region, _profile(clients, wanted, asked))
    gap = asked.find_gap(region)
    if gap:
        yield warning(KEY, region, f"nothing is planned on EC2 there: {gap}", f"mend [platforms.{KEY}] in sweep.toml")
        return
    yield from carefully("subnet", region, _subnets(clients, region, asked))
    yield from carefully("security group", region, _groups(clients, wanted, asked))
    yield from carefully("image", region, _images(clients, wanted, asked))


def _profile(clients: Clients, wanted: Wanted, asked: Machines) -> Iterator[Finding]:
    """Yield whether instances get a role: without one they can read nothing, and end at once."""
    name = (asked.instance_profile or wanted.role).rpartition("/")[2]
    mend = f"name one that is there as `instance_profile` under [platforms.{KEY}]" if asked.instance_profile else DEPLOY
    if not name:
        yield wrong("instance profile", wanted.region, "none is named, and trainings have no role", DEPLOY)
        return
    found = find_roles(name, wanted.region, clients)
    if found is None:
        yield wrong("instance profile", name, "not there: no instance can be launched with it", mend)
        return
    roles = [role["Arn"] for role in found]
    if not roles:
        add = f"aws iam add-role-to-instance-profile --instance-profile-name {name} --role-name ROLE"
        yield wrong("instance profile", name, why_no_role(found), add)
    elif why := why_no_role(found):
        trust = (
            f"aws iam update-assume-role-policy --role-name {found[0]['RoleName']} --policy-document file://trust.json"
        )
        yield wrong("instance profile", name, why, DEPLOY if wanted.role in roles else trust)
    elif wanted.role and wanted.role not in roles:
        message = f"gives {roles[0].rpartition('/')[2]}, not the role of trainings {wanted.role.rpartition('/')[2]}"
        yield warning("instance profile", name, message, mend)
    else:
        yield ok("instance profile", name, f"gives {roles[0].rpartition('/')[2]}")


def _subnets(clients: Clients, region: str, asked: Machines) -> Iterator[Finding]:
    """Yield for each subnet that is named whether its instances find S3: what they are told lies there.

    AWS makes default VPCs with a way out.
    """
    network = (asked.network or {}).get(region)
    try:
        listed = find_subnets(network.subnets if network else [], region, clients)
    except NotFound as error:
        yield wrong("subnet", region, error.message, error.hint or f"mend [platforms.{KEY}] in sweep.toml")
        return
    found = {subnet.id: subnet.zone for subnet in listed}
    if network is None:
        yield ok("subnet", region, f"the default VPC has one in {', '.join(sorted(set(found.values())))}")
        return
    with aws_errors("look at the subnets", where=region):
        answer = clients.client("ec2", region).describe_subnets(SubnetIds=sorted(found))
    public = {one["SubnetId"] for one in answer["Subnets"] if one.get("MapPublicIpOnLaunch")}
    for subnet, zone in sorted(found.items()):
        yield _way(clients, region, subnet, f"in {zone}", is_public=subnet in public)


def _way(clients: Clients, region: str, subnet: str, where: str, *, is_public: bool) -> Finding:
    way = way_out(clients, region, subnet)
    if way is None:
        return wrong("subnet", subnet, f"not there, in {region}", f"aws ec2 describe-subnets --region {region}")
    through_gateway = way.has_route and not way.through_nat
    if way.through_nat or (through_gateway and is_public):
        return ok("subnet", subnet, f"{where}, reaches S3")
    if way.has_s3_endpoint:
        endpoint = f"aws ec2 create-vpc-endpoint --vpc-id {way.vpc} --vpc-endpoint-type Interface"
        mend = f"{endpoint} --service-name com.amazonaws.{region}.logs --subnet-ids {subnet} --region {region}"
        return warning("subnet", subnet, f"{where}, reaches S3 only: logs need an endpoint, unless there is one", mend)
    if through_gateway:
        mend = f"aws ec2 modify-subnet-attribute --subnet-id {subnet} --map-public-ip-on-launch --region {region}"
        return wrong("subnet", subnet, f"{where}: instances get no public address, so the gateway is no way out", mend)
    endpoint = f"aws ec2 create-vpc-endpoint --vpc-id {way.vpc} --service-name com.amazonaws.{region}.s3"
    mend = f"{endpoint} --route-table-ids {way.table} --region {region}"
    return wrong("subnet", subnet, f"{where}, has no way to S3: instances would end at once", mend)


def _groups(clients: Clients, wanted: Wanted, asked: Machines) -> Iterator[Finding]:
    """Yield whether the named security groups are there, and let instances of one training reach each other."""
    network = (asked.network or {}).get(wanted.region)
    names = network.security_groups if network else []
    if not names:
        return  # the VPC's own lets itself in
    try:
        with aws_errors("look at the security groups", where=wanted.region):
            found = clients.client("ec2", wanted.region).describe_security_groups(GroupIds=names)["SecurityGroups"]
    except (NotFound, InvalidRequest) as error:
        yield wrong("security group", ", ".join(names), error.message, f"mend [platforms.{KEY}] in sweep.toml")
        return
    open_to = [group["GroupId"] for group in found if _lets_in(group, names)]
    several = wanted.sweep is not None and max(wanted.sweep.train.instance_counts) > 1
    if several and not open_to:
        allow = "aws ec2 authorize-security-group-ingress --protocol=-1"
        mend = f"{allow} --group-id {names[0]} --source-group {names[0]} --region {wanted.region}"
        message = "does not let itself in: instances of one training cannot reach each other"
        yield wrong("security group", names[0], message, mend)
    else:
        yield ok("security group", ", ".join(names), "there" + (", and lets itself in" if open_to else ""))


def _lets_in(group: dict[str, Any], names: list[str]) -> bool:
    """Return whether a group lets in all traffic of instances that have these groups."""
    return any(
        rule.get("IpProtocol") == "-1"
        and any(pair.get("GroupId") in names for pair in rule.get("UserIdGroupPairs", ()))
        for rule in group.get("IpPermissions", ())
    )


def _images(clients: Clients, wanted: Wanted, asked: Machines) -> Iterator[Finding]:
    """Yield whether the images are there that instances of the sweep's types would boot from."""
    try:
        types = types_of_ours(wanted.sweep) if wanted.sweep else []
    except SpecError:
        return  # the sweep runs on other platforms
    names = {image_name(asked, wanted.region, name) for name in types}
    if not types and asked.ami:
        names = {image_name(asked, wanted.region, "")}
    for name in sorted(names):
        try:
            pinned = pin_image(name, wanted.region, clients)
        except NotFound as error:
            yield wrong("image", name, error.message, error.hint)
        else:
            yield ok("image", name, "there" if name == pinned["ami"] else f"is {pinned['ami']}")
