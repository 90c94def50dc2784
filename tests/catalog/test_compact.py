"""A compacted catalog answers as before for every moment that it says it does."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from orchestrator.catalog.compact import horizons
from orchestrator.db.tables import results, runs
from tests.catalog.platforms import make_catalog
from tests.fixtures.examples import examples

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog

NOW = datetime(2026, 11, 22, 15, 30, tzinfo=timezone.utc)
"""A Sunday. Days are daily before Sunday the 15th, weeks are weekly before Monday, 12 October."""
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def price(at: datetime, usd: float, instance_type: str = "ml.g5.xlarge", **more: Any) -> dict[str, Any]:
    lane = {"platform": "sagemaker", "region": "us-east-1", "instance_type": instance_type, "purchase": "on_demand"}
    return {**lane, "usd_per_hour": usd, "observed_at": at, **more}


def fill(catalog: Catalog, *rows: dict[str, Any]) -> None:
    catalog.take({"prices": dict(enumerate(rows, 1))}, "history")


def known_at(catalog: Catalog, moment: datetime) -> dict[str, float]:
    """The newest price of each type at a moment, as `--as-of` finds it."""
    rows = [row for row in catalog.show("prices") if row["observed_at"] <= moment]
    return {row["instance_type"]: row["usd_per_hour"] for row in sorted(rows, key=lambda row: row["observed_at"])}


def prices(catalog: Catalog) -> list[float]:
    return sorted(row["usd_per_hour"] for row in catalog.show("prices"))


@pytest.fixture
def empty(database_url: str) -> Catalog:
    return make_catalog(database_url)


def test_the_last_days_stay_then_one_a_day_then_one_a_week(empty: Catalog) -> None:
    recent, daily, weekly = NOW - timedelta(days=2), datetime(2026, 11, 3, 6), datetime(2026, 9, 7, 6)
    moments = [
        recent, recent + HOUR,
        daily, daily + HOUR, daily + 18 * HOUR,  # the last of them is of the next day
        weekly, weekly + 24 * HOUR, weekly + 7 * 24 * HOUR,  # and of the next week
    ]  # fmt: skip
    fill(empty, *(price(at.replace(tzinfo=timezone.utc), number) for number, at in enumerate(moments, 1)))
    done = empty.compact(NOW)
    assert prices(empty) == [1, 2, 4, 5, 7, 8]
    assert (done.removed, done.kept) == (2, 6)


def test_a_dry_run_says_the_same_and_removes_nothing(empty: Catalog) -> None:
    at = datetime(2026, 9, 7, tzinfo=timezone.utc)
    fill(empty, *(price(at + number * HOUR, number + 1) for number in range(5)))
    would = empty.compact(NOW, dry_run=True)
    assert (would.removed, len(prices(empty)), empty.tell_thinned(at)) == (4, 5, "")
    assert empty.compact(NOW).removed == 4


def test_a_second_time_nothing_goes(empty: Catalog) -> None:
    at = datetime(2026, 9, 7, tzinfo=timezone.utc)
    fill(empty, *(price(at + number * 7 * HOUR, number + 1) for number in range(200)))
    assert empty.compact(NOW).removed > 0
    assert empty.compact(NOW).removed == 0


def test_other_lanes_are_thinned_by_themselves(empty: Catalog) -> None:
    at = datetime(2026, 9, 7, tzinfo=timezone.utc)
    fill(empty, price(at, 1), price(at + HOUR, 2, "ml.g6.xlarge"), price(at + 2 * HOUR, 3))
    empty.compact(NOW)
    assert prices(empty) == [2, 3]


def test_what_the_plan_of_a_run_was_made_from_stays(empty: Catalog) -> None:
    at = datetime(2026, 9, 7, tzinfo=timezone.utc)
    ec2 = {"platform": "ec2", "instance_type": "g5.xlarge"}
    fill(
        empty,
        *(price(at + number * HOUR, number + 1) for number in range(6)),
        *(price(at + number * HOUR, number + 11, **ec2) for number in range(6)),
        *(price(at + number * HOUR, number + 21, "ml.g6.xlarge") for number in range(6)),
        *(price(at + number * HOUR, number + 0.5, **ec2, purchase="spot") for number in range(6)),
    )
    record_run(empty, at + 2.5 * HOUR, "spot")
    empty.compact(NOW)
    # The third of each that counted then, and the last of the week of all: g6 was not used.
    assert prices(empty) == sorted([3, 6, 13, 16, 26, 2.5, 5.5])


def record_run(catalog: Catalog, at: datetime, purchase: str) -> None:
    """A run that was made at a moment, with one task on ml.g5.xlarge."""
    run = {"name": "r", "plan_id": "p", "bucket": "b", "region": "us-east-1", "tasks": 1, "document": "{}"}
    lane = {"platform": "sagemaker", "region": "us-east-1", "instance_type": "ml.g5.xlarge", "purchase": purchase}
    texts = dict.fromkeys(("etag", "training", "reason", "document", "read_etag"), "") | {
        "metrics": "{}",
        "state": "done",
    }
    numbers = dict.fromkeys(
        ("task", "submission", "attempt", "seconds", "billable_s", "usd", "updated_at", "proven"), 0
    )
    with catalog.engine.begin() as connection:
        connection.execute(insert(runs).values(**run, created_at=at.timestamp()))
        connection.execute(insert(results).values(run="r", instances=1, **lane, **texts, **numbers))


def test_quotas_and_interruptions_are_thinned_as_well(empty: Catalog) -> None:
    at = datetime(2026, 9, 7, tzinfo=timezone.utc)
    of_region = {"platform": "sagemaker", "region": "us-east-1"}
    quotas = [{**of_region, "quota": "*/spot", "units": n, "observed_at": at + n * HOUR} for n in range(3)]
    rates = [
        {**of_region, "instance_type": "ml.g5.xlarge", "per_hour": n, "observed_at": at + n * HOUR} for n in range(3)
    ]
    empty.take({"quotas": dict(enumerate(quotas, 1)), "interruptions": dict(enumerate(rates, 1))}, "history")
    assert empty.compact(NOW).removed == 4
    assert [row["units"] for row in empty.show("quotas")] == [2]


def test_a_moment_whose_facts_were_thinned_is_told_exactly(empty: Catalog) -> None:
    in_week, on_day = datetime(2026, 9, 9, 12, tzinfo=timezone.utc), datetime(2026, 11, 3, 12, tzinfo=timezone.utc)
    assert empty.tell_thinned(in_week) == ""
    empty.compact(NOW)
    assert empty.tell_thinned(in_week) == (
        "the catalog was compacted: what changed more than once between 2026-09-07 and 2026-09-14 may be taken as it"
        " was when 2026-09-07 began"
    )
    assert "between 2026-11-03 and 2026-11-04" in empty.tell_thinned(on_day)
    assert empty.tell_thinned(datetime(2026, 9, 7, tzinfo=timezone.utc)) == ""
    assert empty.tell_thinned(NOW - timedelta(days=3)) == ""


@settings(max_examples=examples(25))
@given(
    minutes=st.lists(st.integers(0, 80 * 24 * 60), min_size=1, max_size=40, unique=True),
    asked=st.lists(st.integers(0, 80 * 24 * 60), max_size=10),
)
def test_what_is_not_told_to_be_thinned_is_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, minutes: list[int], asked: list[int]
) -> None:
    folder: Path = tmp_path_factory.mktemp("history")
    catalog = make_catalog(f"sqlite:///{folder}/catalog.db")
    fill(
        catalog,
        *(price(NOW - each * MINUTE, number, f"ml.g{number % 2 + 5}.xlarge") for number, each in enumerate(minutes)),
    )
    midnights = [NOW.replace(hour=0, minute=0) - timedelta(days=days) for days in range(80)]
    moments = [*(NOW - each * MINUTE for each in asked), *midnights]
    before = {moment: known_at(catalog, moment) for moment in moments}
    catalog.compact(NOW)
    for moment in moments:
        if not catalog.tell_thinned(moment):
            assert known_at(catalog, moment) == before[moment]
        else:  # each price is the one of then, or the one with which the week or the day began
            begins = moment.replace(hour=0, minute=0, second=0, microsecond=0)
            if moment < horizons(NOW)[1]:
                begins -= timedelta(days=begins.weekday())
            then, earlier = before[moment], known_at(catalog, begins)
            found = known_at(catalog, moment)
            assert all(found.get(name) in (then[name], earlier.get(name)) for name in then)
