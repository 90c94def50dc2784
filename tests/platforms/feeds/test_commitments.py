"""What is paid for already: training plans by Region, savings plans of the whole account."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.catalog.files.observe import Observed
from orchestrator.platforms.ec2.feeds import savings_plans as of_ec2
from orchestrator.platforms.sagemaker.feeds import savings_plans, training_plans
from tests.catalog.platforms import make_catalog
from tests.platforms.feeds.answers import Answers, price_list, product

if TYPE_CHECKING:
    from orchestrator.platforms.feed import Feed, Reading

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)
NEXT, THEN = datetime(2026, 12, 1, tzinfo=timezone.utc), datetime(2026, 12, 8, tzinfo=timezone.utc)
ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/december"


def part(starts: datetime = NEXT, ends: datetime = THEN, status: str = "Scheduled") -> dict[str, Any]:
    of_type = {"InstanceType": "ml.p5.48xlarge", "TotalInstanceCount": 2, "Status": status}
    return {**of_type, "StartTime": starts, "EndTime": ends}


def plan(*parts: dict[str, Any], **facts: Any) -> dict[str, Any]:
    usual = {"TrainingPlanName": "december", "TrainingPlanArn": ARN, "Status": "Scheduled"}
    return {**usual, "TargetResources": ["training-job"], "ReservedCapacitySummaries": list(parts), **facts}


def planned(*plans: dict[str, Any]) -> Reading:
    return training_plans.read(Answers({"TrainingPlanSummaries": list(plans)}), "us-east-1", NOW)  # type: ignore[arg-type]


def test_each_part_of_a_training_plan_is_a_commitment_with_its_arn() -> None:
    last = datetime(2026, 12, 20, tzinfo=timezone.utc)
    rows = planned(plan(part(THEN, last), part())).rows
    assert [(row["commitment"], row["starts_at"], row["ends_at"], row["slots"], row["arn"]) for row in rows] == [
        ("us-east-1/december/ml.p5.48xlarge/1", NEXT, THEN, 2, ARN),
        ("us-east-1/december/ml.p5.48xlarge/2", THEN, last, 2, ARN),
    ]


def test_a_plan_that_is_over_or_not_paid_is_none() -> None:
    assert (
        planned(plan(part(), Status="Expired"), plan(part(status="Expired")), plan(part(), Status="Pending")).rows == ()
    )


def test_a_plan_for_clusters_is_left_out_and_told() -> None:
    found = planned(plan(part(), TargetResources=["hyperpod-cluster"]))
    assert (found.rows, found.left_out) == ((), ("the training plan december is for hyperpod-cluster",))


class Bought(Answers):
    """An account with savings plans: what a plan's hours cost, by usage type, beside the Price List."""

    def __init__(self, plans: list[dict[str, Any]], rates: dict[str, str]) -> None:
        on_demand = {
            "USE1-Train:ml.g5.xlarge": "2.0",
            "USE1-Train:ml.c5.xlarge": "1.0",
            "USE1-Train:ml.p5.48xlarge": "60",
        }
        products = [product(usd, usagetype=name, component="Training") for name, usd in on_demand.items()]
        super().__init__(price_list(*products))
        self._plans, self._rates = plans, rates

    def describe_savings_plans(self, **asked: Any) -> dict[str, Any]:
        start = int(asked.get("nextToken", 0))
        more = {"nextToken": str(start + 1)} if start + 1 < len(self._plans) else {}
        return {"savingsPlans": self._plans[start : start + 1], **more}

    def describe_savings_plan_rates(self, **asked: Any) -> dict[str, Any]:
        assert {"name": "region", "values": ["us-east-1"]} in asked["filters"]
        rates = [{"usageType": name, "rate": usd, "currency": "USD"} for name, usd in self._rates.items()]
        return {"searchResults": rates}


def savings(**facts: Any) -> dict[str, Any]:
    usual = {"savingsPlanId": "sp-1", "savingsPlanType": "SageMaker", "currency": "USD", "commitment": "12.50"}
    return {**usual, "start": "2026-01-01T00:00:00.000Z", "end": "2029-01-01T00:00:00.000Z", **facts}


RATES = {"USE1-Train:ml.g5.xlarge": "1.5", "USE1-Train:ml.c5.xlarge": "0.64", "USE1-Train:ml.p5.48xlarge": "30"}


def bought(*plans: dict[str, Any], rates: dict[str, str] = RATES) -> Reading:
    return savings_plans.read(Bought(list(plans), rates), "*", NOW)  # type: ignore[arg-type]


def test_a_savings_plan_has_the_median_discount_of_what_trains() -> None:
    (row,) = bought(savings()).rows
    assert (row["commitment"], row["usd_per_hour"], row["discount"], row["region"]) == ("sp-1", "12.50", 0.36, "*")


def test_all_pages_of_plans_are_read() -> None:
    assert len(bought(savings(), savings(savingsPlanId="sp-2"), savings(savingsPlanId="sp-3")).rows) == 3


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (
            {"savingsPlanType": "Compute"},
            "the savings plan sp-1 is of kind Compute, which covers no trainings of SageMaker's",
        ),
        ({"currency": "EUR"}, "the savings plan sp-1 is in EUR"),
    ],
)
def test_what_covers_no_trainings_in_dollars_is_left_out_and_told(facts: dict[str, str], says: str) -> None:
    found = bought(savings(**facts))
    assert (found.rows, found.left_out) == ((), (says,))


@pytest.mark.parametrize("rate", ["", "free", "nan", "0", "-1", "99"])
def test_a_rate_that_cannot_be_is_no_discount(rate: str) -> None:
    found = bought(savings(), rates={"USE1-Train:ml.g5.xlarge": rate})
    assert found.left_out == ("the savings plan sp-1 has no rate of trainings in us-east-1",)


class BoughtOfEc2(Bought):
    """An account with savings plans of EC2: g5 costs a third less, and another family nothing less."""

    def __init__(self, *plans: dict[str, Any]) -> None:
        super().__init__(list(plans), {"BoxUsage:g5.xlarge": "0.67", "BoxUsage:g5.2xlarge": "1.38"})
        on_demand = {"g5.xlarge": "1.0", "g5.2xlarge": "2.0", "c5.xlarge": "0.17"}
        self.pages = (
            price_list(
                *[product(usd, usagetype=f"BoxUsage:{name}", instanceType=name) for name, usd in on_demand.items()]
            ),
        )

    def describe_savings_plan_rates(self, **asked: Any) -> dict[str, Any]:
        assert {"name": "productDescription", "values": ["Linux/UNIX"]} in asked["filters"]
        return super().describe_savings_plan_rates(**asked)


def test_savings_plans_of_ec2_are_for_all_instances_or_for_a_family_in_a_region() -> None:
    of_family = savings(savingsPlanId="sp-2", savingsPlanType="EC2Instance", region="us-east-1", ec2InstanceFamily="g5")
    found = of_ec2.read(BoughtOfEc2(savings(savingsPlanType="Compute"), of_family, savings()), "*", NOW)  # type: ignore[arg-type]
    of = ("commitment", "platform", "region", "instance_type", "usd_per_hour", "discount")
    assert [tuple(row[name] for name in of) for row in found.rows] == [
        ("sp-1", "ec2", "*", "*", "12.50", 0.32),
        ("sp-2", "ec2", "us-east-1", "g5.*", "12.50", 0.32),
    ]
    assert found.left_out == ("the savings plan sp-1 is of kind SageMaker, which covers no instances of EC2",)


def test_both_are_taken_into_the_catalog_and_leave_it_when_they_are_gone(database_url: str) -> None:
    catalog = make_catalog(database_url)

    def told(feed: Feed, region: str, reading: Reading) -> None:
        catalog.observe(Observed(feed.name, feed.kind, region, NOW, reading.rows))

    told(training_plans.FEED, "us-east-1", planned(plan(part())))
    told(savings_plans.FEED, "*", bought(savings()))
    assert [row["commitment"] for row in catalog.show("commitments")] == ["sp-1", "us-east-1/december/ml.p5.48xlarge/1"]
    told(training_plans.FEED, "us-east-1", planned())
    assert [(row["commitment"], row["source"]) for row in catalog.show("commitments")] == [("sp-1", "savings-plans")]
