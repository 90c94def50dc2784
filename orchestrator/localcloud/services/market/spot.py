"""EC2's spot market in one Region: the history of prices, and how likely a wish is to be met."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.market.table import REGIONS, VCPUS, offered, placement_score, spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.localcloud.clock import Clock

Body = dict[str, Any]

_STEP_S = 8 * 3600
"""A price stays that long."""
_KEPT_S = 90 * 86_400
_MOST = 1000
_DESCRIPTIONS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")


class SpotMarket:
    def __init__(self, region: str, clock: Clock) -> None:
        self._region = region
        self._clock = clock

    def describe_spot_price_history(self, body: Body) -> Body:
        """The newest first, and for each market the price that held when the time asked for began."""
        now = self._clock.now()
        stop = min(_seconds(body.get("EndTime"), now), now)
        start = max(_seconds(body.get("StartTime"), 0.0), now - _KEPT_S)
        rows = sorted(self._rows(body, start, stop), key=lambda row: row["timestamp"], reverse=True)
        return _page("spotPriceHistorySet", rows, body)

    def _rows(self, body: Body, start: float, stop: float) -> Iterator[Body]:
        filters = {each["Name"]: each["Value"] for each in body.get("Filter", [])}
        types = body.get("InstanceType") or filters.get("instance-type") or list(VCPUS)
        products = body.get("ProductDescription") or filters.get("product-description") or _DESCRIPTIONS
        zones = [*filters.get("availability-zone", ()), body.get("AvailabilityZone"), body.get("AvailabilityZoneId")]
        wanted = {zone for zone in zones if zone}
        for name, zone in REGIONS[self._region].zones if self._region in REGIONS else ():
            if wanted and not wanted & {name, zone}:
                continue
            for instance_type in types:
                if not offered(instance_type, self._region):
                    continue
                for step in range(int(start // _STEP_S), int(stop // _STEP_S) + 1):
                    for product in _DESCRIPTIONS:
                        if product in products:
                            yield {
                                "instanceType": instance_type,
                                "productDescription": product,
                                "spotPrice": f"{spot(instance_type, zone, self._region, step):.6f}",
                                "timestamp": _text(step * _STEP_S),
                                "availabilityZone": name,
                                "availabilityZoneId": zone,
                            }

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
            there = [each for each in types if offered(each, region)]
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


def _text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
