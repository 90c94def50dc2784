"""Whatever AWS answers, each feed tells rows or says in one line what is wrong, and nothing of it lands by half."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from itertools import product as product_of
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import AccessDenied, CloudError, SweepError, Throttled
from orchestrator.feeds.every import every_feed
from orchestrator.feeds.refresh import Refresh
from tests.catalog.platforms import make_catalog
from tests.fixtures.examples import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.catalog.catalog import Catalog
    from orchestrator.platforms.feed import Feed, Reading

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)
FEEDS = [feed for feed in every_feed() if feed.at is None and feed.name not in ("eks-nodes", "eks-spot-prices")]
"""Those that ask AWS's API: who reads a file is tried with files of any content. What those two ask are clusters of
Kubernetes, which are looked for by AWS's API first: tests/platforms/eks has them."""


class Aws:
    """Stands for `Clients`: every operation answers with these pages, or raises."""

    def __init__(self, pages: list[Any], error: Exception | None = None) -> None:
        self.pages, self.error = pages, error

    def client(self, *_: str) -> Any:
        return self

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, **_: Any) -> Iterator[Any]:
        yield from self.pages
        if self.error:
            raise self.error

    def __getattr__(self, _: str) -> Any:
        def call(**_: Any) -> Any:
            return next(self.paginate(), {})

        return call


def read(feed: Feed, *pages: Any, error: Exception | None = None) -> Reading:
    clients: Any = Aws(list(pages), error)
    return feed.read(clients, "us-east-1", NOW)


MEMBERS = (
    "PriceList", "SpotPriceHistory", "Quotas", "Results", "TrainingPlanSummaries", "savingsPlans", "searchResults",
    "InstanceTypes", "SpotPlacementScores", "Reservations", "CapacityReservations",
    "clusters",
)  # fmt: skip
KEYS = (
    "TrainingJob", "ResourceConfig", "InstanceType", "InstanceCount", "InstanceGroups", "QuotaName", "QuotaCode",
    "Value", "Adjustable", "ProductDescription", "Timestamp", "SpotPrice", "AvailabilityZone", "TrainingPlanName",
    "Status", "Region", "Score",
    "TrainingPlanArn", "ReservedCapacitySummaries", "StartTime", "EndTime", "TotalInstanceCount", "TargetResources",
    "savingsPlanType", "savingsPlanId", "ec2InstanceFamily",
    "currency", "product", "terms", "attributes", "OnDemand", "priceDimensions",
    "VCpuInfo", "MemoryInfo", "GpuInfo", "NetworkInfo",
)  # fmt: skip
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(NOW)
    | st.sampled_from(["Active", "ml.g5.xlarge", "ml.g5.xlarge for training job usage", "training-job", "USD"])
)  # fmt: skip
ANYTHING = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)
PAGES = st.lists(
    st.dictionaries(st.sampled_from(MEMBERS), st.lists(ANYTHING, max_size=3) | ANYTHING, max_size=9) | ANYTHING,
    max_size=2,
)


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(pages=PAGES)
def test_an_answer_of_any_shape_is_rows_or_one_line(feed: Feed, pages: list[Any]) -> None:
    try:
        found = read(feed, *pages)
    except SweepError as error:
        said = str(error)
        assert "\n" not in said
        return
    columns = {tuple(row) for row in found.rows}
    assert len(columns) <= 1


def product(name: str, usage: str = "USE1-Train:BoxUsage") -> str:
    terms = {"t": {"priceDimensions": {"d": {"beginRange": "0", "pricePerUnit": {"USD": "1.5"}}}}}
    facts = {"instanceName": name, "instanceType": name, "usagetype": usage, "component": "Training"}
    return json.dumps({"product": {"attributes": {**facts, "toRegionCode": "eu-west-1"}}, "terms": {"OnDemand": terms}})


PART = {"InstanceType": "ml.p5.48xlarge", "TotalInstanceCount": 2, "Status": "Active", "StartTime": NOW, "EndTime": NOW}
GOOD: dict[str, Any] = {
    "clusters": ["prod"],
    "cluster": {"name": "prod", "status": "CREATING"},
    "PriceList": [product("ml.g5.xlarge"), product("ml.g6.xlarge", "USE1-TimedStorage-ByteHrs")],
    "SpotPlacementScores": [{"Region": "us-east-1", "Score": 7}],
    "SpotPriceHistory": [
        {
            "InstanceType": "g5.xlarge",
            "ProductDescription": "Linux/UNIX",
            "Timestamp": NOW,
            "SpotPrice": "0.5",
            "AvailabilityZoneId": "use1-az1",
        }
    ],
    "Quotas": [
        {"QuotaName": "ml.g5.xlarge for training job usage", "QuotaCode": "L-1", "Value": 4.0, "Adjustable": True},
        {"QuotaName": "All G Spot Instance Requests", "QuotaCode": "L-3819A6DF", "Value": 8.0, "Adjustable": True},
    ],
    "Results": [{"TrainingJob": {"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 2}}}],
    "TrainingPlanSummaries": [
        {
            "TrainingPlanName": "n",
            "TrainingPlanArn": "arn:aws:sagemaker:us-east-1:111122223333:training-plan/n",
            "Status": "Active",
            "ReservedCapacitySummaries": [PART],
        }
    ],
    "Reservations": [
        {
            "Instances": [
                {
                    "InstanceId": "i-0",
                    "State": {"Name": "running"},
                    "LaunchTime": NOW,
                    "InstanceType": "g5.xlarge",
                    "InstanceLifecycle": "spot",
                }
            ]
        }
    ],
    "CapacityReservations": [
        {
            "CapacityReservationId": "cr-1",
            "CapacityReservationArn": "arn:aws:ec2:us-east-1:111122223333:capacity-reservation/cr-1",
            "ReservationType": "capacity-block",
            "State": "active",
            "InstanceType": "p5.48xlarge",
            "AvailabilityZone": "us-east-1a",
            "InstancePlatform": "Linux/UNIX",
            "Tenancy": "default",
            "InstanceMatchCriteria": "targeted",
            "TotalInstanceCount": 2,
            "AvailableInstanceCount": 1,
            "StartDate": NOW,
            "EndDate": NOW + timedelta(days=1),
        }
    ],
    "savingsPlans": [
        {"savingsPlanId": kind, "savingsPlanType": kind, "currency": "USD", "commitment": "1"}
        for kind in ("SageMaker", "Compute")
    ],
    "InstanceTypes": [
        {
            "InstanceType": "g5.xlarge",
            "VCpuInfo": {"DefaultVCpus": 4},
            "MemoryInfo": {"SizeInMiB": 16384},
            "GpuInfo": {
                "Gpus": [{"Name": "A10G", "Manufacturer": "NVIDIA", "Count": 1, "MemoryInfo": {"SizeInMiB": 22888}}]
            },
            "NetworkInfo": {"NetworkPerformance": "Up to 10 Gigabit", "EfaSupported": False},
        }
    ],
    "searchResults": [{"usageType": "USE1-Train:BoxUsage", "rate": "1", "currency": "USD"}],
}
"""A page that is a good answer to whatever is asked."""


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an answer at which something may be wrong."""
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from places(each, (*at, key))


def spoilt(value: Any, at: tuple[Any, ...], instead: Any) -> Any:
    if not at:
        return instead
    copied = value.copy()
    if instead is GONE and len(at) == 1:
        del copied[at[0]]
    else:
        copied[at[0]] = spoilt(value[at[0]], at[1:], instead)
    return copied


GONE = object()
WRONG: list[Any] = [
    GONE,
    None,
    True,
    -1,
    0,
    7,
    float("nan"),
    float("inf"),
    "",
    "x",
    "ml.",
    NOW,
    [],
    {},
    [None],
    {"Value": []},
]


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
def test_a_good_answer_with_one_thing_wrong_is_rows_or_one_line(feed: Feed) -> None:
    for at, instead in product_of(places(GOOD), WRONG):
        if at:
            with suppress(SweepError):
                read(feed, spoilt(GOOD, at, instead))


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
def test_a_good_answer_is_told(feed: Feed) -> None:
    assert read(feed, GOOD).rows


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
def test_an_answer_that_breaks_off_is_an_error_and_no_half(feed: Feed) -> None:
    throttled = ClientError({"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}, "Ask")
    in_one_answer = feed.name in ("savings-plans", "ec2-savings-plans", "placement-scores")
    pages = [] if in_one_answer else [{member: [] for member in MEMBERS}]
    with pytest.raises(Throttled):
        read(feed, *pages, error=throttled)


@pytest.fixture
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return make_catalog(f"sqlite:///{tmp_path_factory.mktemp('any')}/catalog.db")


@pytest.mark.parametrize("code", ["AccessDeniedException", "UnauthorizedOperation"])
@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
def test_what_may_not_be_asked_names_its_actions_and_yesterdays_facts_stay(
    feed: Feed, code: str, catalog: Catalog
) -> None:
    quota = {"platform": "sagemaker", "region": "us-east-1", "quota": "*/spot", "used": 1}
    catalog.take({"quota_use": {1: quota}}, feed.name)
    denied: Any = Aws([], ClientError({"Error": {"Code": code, "Message": "no"}}, "Ask"))
    (one,) = Refresh(catalog.observe, denied, NOW).run([feed], ["us-east-1"])
    assert isinstance(one.error, AccessDenied)
    assert one.missing_actions == feed.actions != ()
    assert [row["used"] for row in catalog.show("quota_use")] == [1]


def test_a_huge_answer_lands_whole(catalog: Catalog) -> None:
    """Two thousand types, in pages of a hundred."""
    feed = next(feed for feed in FEEDS if feed.name == "sagemaker-prices")
    pages = [{"PriceList": [product(f"ml.m{page}x{number}.large") for number in range(100)]} for page in range(20)]
    clients: Any = Aws(pages)
    (one,) = Refresh(catalog.observe, clients, NOW).run([feed], ["us-east-1"])
    assert (one.error, one.added) == (None, 2_000)


def test_an_answer_that_is_understood_no_more_says_which() -> None:
    feed = next(feed for feed in FEEDS if feed.name == "sagemaker-quotas")
    with pytest.raises(
        CloudError, match=r"could not list the quotas of sagemaker: the answer cannot be understood: KeyError"
    ):
        read(feed, {"Quotas": [{"Value": 1.0}]})
