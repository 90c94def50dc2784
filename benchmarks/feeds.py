"""All feeds of 30 Regions, with answers as long as AWS's: CPU, memory, and how many questions are asked of whom.

The answers come at once, so the time on the wire is counted apart: that is the questions, sixteen at a time.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from datetime import datetime, timedelta, timezone
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figure import Figure, run
from orchestrator.api import Orchestrator, Settings
from orchestrator.feeds.refresh import AT_ONCE, Refresh, choose_feeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REGIONS = [f"eu-west-{number}" for number in range(1, 31)]
SIZES = ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge", "metal")
TYPES = [f"m{number}.{size}" for number in range(60) for size in SIZES]
LINUX = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


ANSWER_S = 0.25
"""Seconds that an answer takes, as it is assumed here: AWS's come sooner or later."""


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        for what in ("at first", "again, an hour later"):
            used = run([sys.executable, "-m", "benchmarks.feeds", Path(folder) / "catalog.db"])
            told = json.loads(used.output)
            lanes = f"feeds, 30 Regions x {len(TYPES)} types"
            yield Figure(f"{lanes}, {what}", used.cpu_s, "s CPU", budget=30)
            yield Figure("feeds, memory", used.peak_mb, "MB", budget=300)
            wire_s = sum(told.values()) * ANSWER_S / AT_ONCE
            yield Figure("feeds, on the wire", wire_s, "s", budget=30, rival=f"{sum(told.values()):,} questions")
            of_quotas = max(count for name, count in told.items() if name.startswith("list_service_quotas"))
            # They are asked one after the other: no more a second than answers come.
            yield Figure(
                "feeds, ListServiceQuotas of a Region", 1 / ANSWER_S, "a second", budget=10, rival=f"{of_quotas} in all"
            )
            yield Figure(
                "feeds, GetProducts", sum(n for name, n in told.items() if "get_products" in name), "questions"
            )


class Aws:
    """Stands for `Clients`, and counts the pages that are asked for, by operation and Region."""

    def __init__(self) -> None:
        self.pages: Counter[str] = Counter()

    def client(self, _: str, region: str) -> Service:
        return Service(self, region)


class Service:
    """One service in one Region: every operation has an answer."""

    def __init__(self, aws: Aws, region: str, operation: str = "") -> None:
        self.aws, self.region, self.operation = aws, region, operation

    def get_paginator(self, operation: str) -> Service:
        return Service(self.aws, self.region, operation)

    def paginate(self, **asked: Any) -> Iterator[dict[str, Any]]:
        if self.operation == "get_products":
            return self._pages("PriceList", 100, price_list(asked["ServiceCode"]))
        if self.operation == "describe_spot_price_history":
            return self._pages("SpotPriceHistory", 1000, spot_history())
        if self.operation == "search":
            return self._pages("Results", 100, trainings())
        if self.operation == "list_training_plans":
            return self._pages("TrainingPlanSummaries", 100, ())
        if self.operation == "describe_capacity_reservations":
            return self._pages("CapacityReservations", 100, ())
        if self.operation == "describe_instances":
            return self._pages("Reservations", 100, ())
        if self.operation == "list_clusters":
            return self._pages("clusters", 100, ())
        if self.operation == "describe_instance_types":
            return self._pages("InstanceTypes", 100, shapes())
        return self._pages("Quotas", 100, quotas(asked["ServiceCode"]))

    def describe_savings_plans(self, **_: Any) -> dict[str, Any]:
        self.aws.pages[f"describe_savings_plans {self.region}"] += 1
        return {"savingsPlans": []}

    def _pages(self, member: str, size: int, items: Iterable[Any]) -> Iterator[dict[str, Any]]:
        rest = iter(items)
        page = list(islice(rest, size))
        while True:
            self.aws.pages[f"{self.operation} {self.region}"] += 1
            yield {member: page}
            page = list(islice(rest, size))
            if not page:
                return


def trainings() -> Iterator[dict[str, Any]]:
    for number in range(300):
        yield {"TrainingJob": {"ResourceConfig": {"InstanceType": f"ml.{TYPES[number]}", "InstanceCount": 2}}}


def shapes() -> Iterator[dict[str, Any]]:
    for name in TYPES:
        network = {"NetworkPerformance": "Up to 10 Gigabit", "EfaSupported": False}
        memory = {"SizeInMiB": 16384}
        yield {"InstanceType": name, "VCpuInfo": {"DefaultVCpus": 4}, "MemoryInfo": memory, "NetworkInfo": network}


def advice() -> str:
    """The Spot Advisor's file."""
    types = {name: {"s": 70, "r": 0} for name in TYPES}
    bands = [{"index": 0, "label": "<5%", "dots": 0, "max": 5}]
    return json.dumps(
        {"ranges": bands, "spot_advisor": {region: {"Linux": types, "Windows": types} for region in REGIONS}}
    )


def price_list(service: str) -> Iterator[str]:
    """Products with as many attributes as AWS's have."""
    if service == "AWSDataTransfer":
        yield from (listed("0.02", toRegionCode=region) for region in REGIONS)
    if service == "AmazonS3":
        yield listed("0.023", usagetype="EU-TimedStorage-ByteHrs")
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


def quotas(service: str) -> Iterator[dict[str, Any]]:
    """SageMaker has some for each type; EC2 has about two hundred, of which one counts here."""
    if service == "ec2":
        yield quota("All G and VT Spot Instance Requests", "L-3819A6DF")
        yield from (quota(f"Running Dedicated {name} Hosts") for name in TYPES[:200])
        return
    for name, spot in product(TYPES, ("", "spot ")):
        yield quota(f"ml.{name} for {spot}training job usage")


def quota(name: str, code: str = "L-1") -> dict[str, Any]:
    return {"QuotaName": name, "QuotaCode": code, "Value": 64.0, "Adjustable": True}


def main(database: str) -> None:
    """Refresh everything in this catalog, and print how many questions that took, by operation and Region."""
    file = Path(database).with_name("advice.json")
    file.write_text(advice())
    aws = Aws()
    orchestrator = Orchestrator(Settings(database=f"sqlite:///{database}", spot_advisor=str(file)))
    refresh = Refresh(orchestrator.catalog.observe, aws, NOW)  # type: ignore[arg-type]
    feeds = choose_feeds(orchestrator.feeds.all(), ())
    failed = [one for one in refresh.run(feeds, REGIONS) if one.error]
    if failed:
        raise SystemExit(f"{failed[0].feed} {failed[0].region}: {failed[0].error}")
    print(json.dumps(aws.pages))


if __name__ == "__main__":
    main(sys.argv[1])
