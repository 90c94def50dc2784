"""The Spot Advisor's file: how often spot instances are taken back, in all Regions. AWS lets everybody read it."""

from __future__ import annotations

from functools import cache
from typing import Any

from orchestrator.localcloud.services.market.price_table import REGIONS, VCPUS, interruption_band, is_offered

PATH = "/spot-advisor-data.json"
_BANDS = (("<5%", 5), ("5-10%", 11), ("10-15%", 16), ("15-20%", 22), (">20%", 100))


@cache
def document() -> dict[str, Any]:
    """Return the file's content."""
    advice = {
        region: {"Linux": {name: _advice(name, region) for name in VCPUS if is_offered(name, region)}, "Windows": {}}
        for region in REGIONS
    }
    ranges = [
        {"index": number, "label": label, "dots": number, "max": most} for number, (label, most) in enumerate(_BANDS)
    ]
    types = {name: {"emr": True, "cores": vcpus, "ram_gb": 4.0 * vcpus} for name, vcpus in VCPUS.items()}
    return {"global_rate": "<10%", "instance_types": types, "ranges": ranges, "spot_advisor": advice}


def _advice(instance_type: str, region: str) -> dict[str, int]:
    return {"s": 60, "r": interruption_band(instance_type, region, len(_BANDS))}
