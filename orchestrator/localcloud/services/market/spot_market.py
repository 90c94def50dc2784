"""EC2 in one Region: which Regions are enabled, the history of spot prices, how likely instances are to be had."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.calls.wire import moment
from orchestrator.localcloud.services.market.price_table import REGIONS, VCPUS, is_offered, placement_score, spot_price

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.localcloud.clock import Clock

Body = dict[str, Any]

_STEP_S = 8 * 3600
"""Seconds for which a price stays."""
_KEPT_S = 90 * 86_400
"""Seconds for which prices are kept."""
_MOST = 1000
_DESCRIPTIONS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")


class SpotMarket:
    """EC2's spot market in one Region. Each operation is a method: it has boto3's name, and takes a request."""

    def __init__(self, region: str, enabled: Sequence[str], clock: Clock) -> None:
        """Take also the Regions that the account may use: those of this cloud."""
        self._region = region
        self._enabled = enabled
        self._clock = clock

    def describe_regions(self, body: Body) -> Body:
        """Return the enabled Regions, or those of them that are asked for by name."""
        asked = body.get("RegionName") or self._enabled
        if unknown := [name for name in asked if name not in self._enabled]:
            raise AwsError("InvalidParameterValue", f"Invalid region names: {', '.join(unknown)}")
        found = [
            {"regionName": name, "regionEndpoint": f"ec2.{name}.amazonaws.com", "optInStatus": "opt-in-not-required"}
            for name in asked
        ]
        return {"regionInfo": found}

    def describe_spot_price_history(self, body: Body) -> Body:
        """Return prices, the newest first; among them each market's price when the time asked for began."""
        now = self._clock.now()
        stop = min(_seconds(body.get("EndTime"), now), now)
        start = max(_seconds(body.get("StartTime"), 0.0), now - _KEPT_S)
        rows = sorted(self._rows(body, start, stop), key=lambda row: row["timestamp"], reverse=True)
        return _page("spotPriceHistorySet", rows, body)

    def _rows(self, body: Body, start: float, stop: float) -> Iterator[Body]:
        """Make a row for each zone, instance type, step of time and product that a request asks for."""
        filters = {each["Name"]: each["Value"] for each in body.get("Filter", [])}
        types = body.get("InstanceType") or filters.get("instance-type") or list(VCPUS)
        products = body.get("ProductDescription") or filters.get("product-description") or _DESCRIPTIONS
        asked = [*filters.get("availability-zone", ()), body.get("AvailabilityZone"), body.get("AvailabilityZoneId")]
        wanted = {zone for zone in asked if zone}
        known = REGIONS[self._region].zones if self._region in REGIONS else []
        zones = [(name, zone) for name, zone in known if not wanted or wanted & {name, zone}]
        types = [each for each in types if is_offered(each, self._region)]
        products = [each for each in _DESCRIPTIONS if each in products]
        steps = range(int(start // _STEP_S), int(stop // _STEP_S) + 1)
        for (name, zone), instance_type, step, product in itertools.product(zones, types, steps, products):
            yield {
                "instanceType": instance_type,
                "productDescription": product,
                "spotPrice": f"{spot_price(instance_type, zone, self._region, step):.6f}",
                "timestamp": moment(step * _STEP_S),
                "availabilityZone": name,
                "availabilityZoneId": zone,
            }

    def describe_instance_type_offerings(self, body: Body) -> Body:
        """Return where types are offered: in all zones of a Region, or in none."""
        filters = {each["Name"]: each["Value"] for each in body.get("Filter", [])}
        kind = body.get("LocationType") or "region"
        zones = [name for name, _ in REGIONS[self._region].zones] if self._region in REGIONS else []
        places = zones if kind == "availability-zone" else [self._region]
        found = [
            {"instanceType": instance_type, "locationType": kind, "location": location}
            for instance_type in filters.get("instance-type", list(VCPUS))
            for location in filters.get("location", places)
            if is_offered(instance_type, self._region) and location in places
        ]
        return _page("instanceTypeOfferingSet", found, body)

    def describe_capacity_reservations(self, body: Body) -> Body:
        """Return no reservations, of a Region in which the account runs nothing."""
        return _page("capacityReservationSet", [], body)

    def get_spot_placement_scores(self, body: Body) -> Body:
        regions = body.get("RegionName") or [self._region]
        if len(regions) > 10:
            raise AwsError("InvalidParameterValue", "A maximum of 10 Regions can be specified")
        if unknown := [region for region in regions if region not in REGIONS]:
            raise AwsError("InvalidParameterValue", f"Unknown Region {', '.join(unknown)}")
        types, capacity = body.get("InstanceType", []), int(body["TargetCapacity"])
        if not types:
            raise AwsError("MissingParameter", "InstanceTypes or InstanceRequirementsWithMetadata must be given")
        scores = []
        for region in regions:
            there = [each for each in types if is_offered(each, region)]
            if body.get("SingleAvailabilityZone") == "true":
                for _, zone in REGIONS[region].zones:
                    score = placement_score(there, zone, capacity)
                    scores.append({"region": region, "availabilityZoneId": zone, "score": score})
            else:
                scores.append({"region": region, "score": placement_score(there, region, capacity)})
        return _page("spotPlacementScoreSet", sorted(scores, key=lambda each: -each["score"]), body)


def _page(member: str, everything: list[Body], body: Body) -> Body:
    token = body.get("NextToken") or "0"
    if not token.isdecimal():
        raise AwsError("InvalidNextToken", "The token is not valid")
    stop = int(token) + min(int(body.get("MaxResults") or _MOST), _MOST)
    return {member: everything[int(token) : stop], "nextToken": str(stop) if stop < len(everything) else ""}


def _seconds(text: str | None, default: float) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else default
