"""All feeds of 30 Regions, with answers as long as AWS's: CPU, memory, and how many questions are asked.

The answers come at once, so the time on the wire is left out: that is the questions, eight at a time.
"""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figure import Figure, run
from orchestrator.api import Orchestrator, Settings
from orchestrator.feeds.refresh import Refresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REGIONS = [f"eu-west-{number}" for number in range(1, 31)]
SIZES = ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge", "metal")
TYPES = [f"m{number}.{size}" for number in range(60) for size in SIZES]
LINUX = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        for what in ("at first", "again, an hour later"):
            used = run([sys.executable, "-m", "benchmarks.feeds", Path(folder) / "catalog.db"])
            told = f"{used.output.strip()} questions"
            yield Figure(f"feeds, 30 Regions x {len(TYPES)} types, {what}", used.cpu_s, "s CPU", budget=30, rival=told)
            yield Figure("feeds, memory", used.peak_mb, "MB", budget=300)


class Aws:
    """Stands for `Clients`, and counts the pages that are asked for."""

    def __init__(self) -> None:
        self.pages = 0

    def client(self, service: str, _: str) -> Service:
        return Service(self, service)


class Service:
    """One service, whose every operation answers alike."""

    def __init__(self, aws: Aws, name: str) -> None:
        self.aws, self.name = aws, name

    def get_paginator(self, _: str) -> Service:
        return self

    def paginate(self, **asked: Any) -> Iterator[dict[str, Any]]:
        if self.name == "pricing":
            return self._pages("PriceList", 100, price_list(asked["ServiceCode"]))
        if self.name == "ec2":
            return self._pages("SpotPriceHistory", 1000, spot_history())
        return self._pages("Quotas", 100, quotas())

    def _pages(self, member: str, size: int, items: Iterable[Any]) -> Iterator[dict[str, Any]]:
        rest = iter(items)
        while page := list(islice(rest, size)):
            self.aws.pages += 1
            yield {member: page}


def price_list(service: str) -> Iterator[str]:
    """Products with as many attributes as AWS's have."""
    if service == "AWSDataTransfer":
        yield from (listed("0.02", toRegionCode=region) for region in REGIONS)
    for name in TYPES:
        if service == "AmazonSageMaker":
            yield listed("1.5", instanceName=f"ml.{name}", component="Training")
        if service == "AmazonEC2":
            yield listed("1.2", instanceType=name, usagetype=f"EU-BoxUsage:{name}")


def listed(usd: str, **attributes: str) -> str:
    more = {f"attribute{number}": "a value of usual length" for number in range(50)}
    terms = {"t": {"priceDimensions": {"d": {"beginRange": "0", "pricePerUnit": {"USD": usd}}}}}
    return json.dumps({"product": {"attributes": {**attributes, **more}}, "terms": {"OnDemand": terms}})


def spot_history() -> Iterator[dict[str, Any]]:
    """Two prices in the last hours for each type, in six zones, under both names of Linux."""
    for name, zone, linux, turn in product(TYPES, range(6), LINUX, range(2)):
        at = NOW - timedelta(hours=4 * turn + zone / 2)
        market = {"InstanceType": name, "AvailabilityZoneId": f"az{zone}", "ProductDescription": linux}
        yield {**market, "Timestamp": at, "SpotPrice": f"0.{3 + turn}"}


def quotas() -> Iterator[dict[str, Any]]:
    for name, spot in product(TYPES, ("", "spot ")):
        yield {"QuotaName": f"ml.{name} for {spot}training job usage", "QuotaCode": "L-1", "Value": 4.0}


def main(database: str) -> None:
    """Refresh everything in this catalog, and print how many questions that took."""
    aws, orchestrator = Aws(), Orchestrator(Settings(database=f"sqlite:///{database}"))
    refresh = Refresh(orchestrator.catalog.observe, aws, NOW)  # type: ignore[arg-type]
    failed = [one for one in refresh.run(orchestrator.feeds.all(), REGIONS) if one.error]
    if failed:
        raise SystemExit(f"{failed[0].feed} {failed[0].region}: {failed[0].error}")
    print(f"{aws.pages:,}")


if __name__ == "__main__":
    main(sys.argv[1])
