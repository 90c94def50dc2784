"""Prepares a Region at submit: pins the images, looks at subnets, and makes the template that its tasks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import NotFound, SettingsError, SpecError
from orchestrator.platforms.bare.template import look_for_inputs, share
from orchestrator.platforms.ec2.asked import read_asked
from orchestrator.platforms.ec2.families import vcpus
from orchestrator.platforms.ec2.staging.amis import image_name, pin_image
from orchestrator.platforms.ec2.staging.launch_needs import check_groups, check_key_pair, check_profile
from orchestrator.platforms.ec2.staging.stage_reservations import stage_reservations
from orchestrator.platforms.ec2.staging.subnets import find_subnets
from orchestrator.platforms.ec2.zones import find_offers, find_zone_prices
from orchestrator.wire.task import Purchase
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.platforms.ec2.asked import Machines
    from orchestrator.spec.sweep import Sweep


def stage(staging: Staging, usual: Machines, clients: Clients) -> Template:
    """Return the Region's template, with images by their ids.

    Raise SettingsError when instances have no profile, NotFound when an image, a subnet, a security group, a profile,
    a reservation, a secret or a fixed channel's data is not where it should be.
    """
    sweep, region = staging.sweep, staging.region
    asked, train = read_asked(sweep, usual), sweep.train
    profile = _profile(asked.instance_profile or staging.role.rpartition("/")[2])
    types = types_of_ours(sweep)
    names = {name: image_name(asked, region, name) for name in types}
    images = {name: pin_image(name, region, clients) for name in dict.fromkeys(names.values())}
    network = (asked.network or {}).get(region)
    account = staging.role.split(":")[4] if staging.role.startswith("arn:") else ""
    body = share(staging, account)
    look_for_inputs(body, staging, clients)
    found = find_subnets(network.subnets if network else [], region, clients)
    subnets = {subnet.id: subnet.zone for subnet in found}
    check_profile(next(iter(profile.values())), region, clients)
    check_groups(network.security_groups if network else [], found, region, clients)
    check_key_pair(asked.key_name or "", region, clients)
    body["ec2"] = {
        "images": {name: images[ami] for name, ami in names.items()},
        "subnets": subnets,
        "zone_prices": _zone_prices(sweep, region, clients),
        "offered": _offered(staging, types, subnets, clients),
        "reservations": stage_reservations(staging, types, set(subnets.values()), clients),
        "groups": network.security_groups if network else [],
        "profile": profile,
        "key_name": asked.key_name or "",
        "volume_gb": train.volume_gb,
        "container": _container(train.image or "", region, account) if asked.container else "",
    }
    return Template(
        platform="ec2",
        region=region,
        run=staging.run,
        owner=staging.owner,
        body=body,
        output=staging.output,
        checkpoints=train.checkpoints is not None,
        poll_s=staging.poll_s,
        metrics=dict(train.metrics),
        tags=dict(sweep.tags),
    )


def types_of_ours(sweep: Sweep) -> list[str]:
    """Return the instance types of a sweep that EC2 may have: those of other platforms are written otherwise."""
    types = [name for name in sweep.where.instance_types if vcpus(name) is not None and not name.startswith("ml.")]
    if not types:
        raise SpecError("none of these is EC2's", where="where.instance_types", hint="name one such as g5.xlarge")
    return types


def _profile(name: str) -> dict[str, str]:
    if not name:
        hint = "write `instance_profile` under [platforms.ec2], or set the role of trainings"
        raise SettingsError("instances have no profile", where="platforms.ec2", hint=hint)
    return {"Arn": name} if name.startswith("arn:") else {"Name": name}


def _container(image: str, region: str, account: str) -> str:
    return image.replace("{region}", region).replace("{account}", account)


def _offered(staging: Staging, types: list[str], subnets: Mapping[str, str], clients: Clients) -> dict[str, list[str]]:
    """Return the zones that offer each type; nothing where EC2 may not be asked.

    Raise NotFound where the plan has tasks on a type that no zone of these subnets offers.
    """
    offers = find_offers(clients, staging.region, types)
    for name in sorted({lane.instance_type for lane in staging.lanes} & set(offers or ())):
        if offers and not set(offers[name]) & set(subnets.values()):
            where = f"in {', '.join(offers[name])} only" if offers[name] else "nowhere in this Region"
            message = f"{name} is offered {where}, and no subnet is there"
            hint = "name one under platforms.ec2.network" if offers[name] else "leave it out of `where.instance_types`"
            raise NotFound(message, where=staging.region, hint=f"{hint}, and plan again")
    return offers or {}


def _zone_prices(sweep: Sweep, region: str, clients: Clients) -> dict[str, dict[str, float]]:
    """Return what spot costs in each zone, by type; nothing where the sweep may not use it."""
    if Purchase.SPOT not in sweep.where.purchases:
        return {}
    return find_zone_prices(clients, region, types_of_ours(sweep))
