"""EC2 in all Regions: instances where the cloud has a Region, the spot market everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.ec2.calls.groups_and_tags import GroupsAndTags
from orchestrator.localcloud.services.ec2.calls.instances import Instances
from orchestrator.localcloud.services.ec2.calls.reservations import Reservations
from orchestrator.localcloud.services.ec2.capacity import Capacity
from orchestrator.localcloud.services.ec2.capacity_reservations import CapacityReservations
from orchestrator.localcloud.services.ec2.lifecycle import InstanceLifecycle
from orchestrator.localcloud.services.ec2.placement_groups import PlacementGroups
from orchestrator.localcloud.services.market.price_table import REGIONS
from orchestrator.localcloud.services.market.spot_market import SpotMarket
from orchestrator.localcloud.services.moto.ec2 import Ec2Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.localcloud.site import Site


class Parts:
    """EC2 in one Region: several objects that know some of its operations each. The rest is for moto."""

    def __init__(self, *parts: object) -> None:
        self._parts = parts

    def __getattr__(self, name: str) -> Any:
        for part in self._parts:
            if hasattr(part, name):
                return getattr(part, name)
        raise AttributeError(name)


class Compute:
    """All of EC2 that is ours."""

    def __init__(self, site: Site, regions: Sequence[str]) -> None:
        """Make EC2 for the Regions that the account may use; of the others, prices are told."""
        self._stores = {region: Ec2Store(region) for region in regions}
        self._groups = {region: PlacementGroups() for region in regions}
        self.lifecycle = InstanceLifecycle(site, self._stores)
        self.capacity = Capacity(site.clock, site.quotas.vcpus)
        self.regions = {region: Parts(SpotMarket(region, regions, site.clock)) for region in REGIONS}
        """What answers for each Region."""
        for region, store in self._stores.items():
            groups = self._groups[region]
            reserved = CapacityReservations(region, site.clock)
            self.regions[region] = Parts(
                Instances(site, region, store, self.lifecycle, self.capacity, groups, reserved),
                Reservations(site, store, self.lifecycle, self.capacity, reserved),
                GroupsAndTags(site, region, store, self.lifecycle, groups),
                SpotMarket(region, regions, site.clock),
            )

    def tags(self, region: str, resource: str) -> dict[str, str]:
        """Return the tags of a resource, which an ARN ends with: `instance/i-0123`."""
        kind, _, name = resource.partition("/")
        if region not in self._stores or name in ("", "*"):
            return {}
        if kind == "placement-group":
            name = self._groups[region].id_of(name) or name
        return self._stores[region].tags(name)
