"""A snapshot has all that a plan is made from, and of observations the newest: today's, or those of some moment."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from orchestrator.catalog.catalog import Catalog
from orchestrator.db.database import Database
from orchestrator.db.engine import reading
from orchestrator.runs.past.marks import Subject, What, pin, pins
from tests.catalog.platforms import Managed

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("campaigns", "datasets", "replicas", "transfer_prices", "commitments", "interruptions")


def taken(catalog: Catalog, path: Path, as_of: datetime | None = None) -> Catalog:
    catalog.snapshot(path, as_of)
    return Catalog(Database(f"sqlite:///{path}"), {"sagemaker": Managed()})


def test_all_but_older_observations_is_in_it(shared: Catalog, tmp_path: Path) -> None:
    copy = taken(shared, tmp_path / "copy.db")
    for kind in KINDS:
        assert copy.show(kind) == shared.show(kind)
    spot = [row["usd_per_hour"] for row in copy.show("prices") if row["purchase"] == "spot"]
    assert spot == [0.5, 0.6]
    assert [row["units"] for row in copy.show("quotas")] == [12, 0]


def test_it_is_one_file(shared: Catalog, tmp_path: Path) -> None:
    taken(shared, tmp_path / "copy.db")
    assert [file.name for file in tmp_path.iterdir()] == ["copy.db"]


@pytest.mark.parametrize(
    ("then", "spot", "quotas"),
    [
        (datetime(2026, 11, 19, 12, tzinfo=timezone.utc), [0.7], [12, 0]),
        (datetime(2026, 10, 15, tzinfo=timezone.utc), [], [4]),
        (datetime(2026, 11, 20, tzinfo=timezone.utc), [0.5, 0.6], [12, 0]),
    ],
)
def test_of_a_moment_it_has_what_was_known_then(
    shared: Catalog, tmp_path: Path, then: datetime, spot: list[float], quotas: list[int]
) -> None:
    copy = taken(shared, tmp_path / "copy.db", then)
    assert [row["usd_per_hour"] for row in copy.show("prices") if row["purchase"] == "spot"] == spot
    assert [row["units"] for row in copy.show("quotas")] == quotas
    assert copy.show("replicas") == shared.show("replicas")


def test_of_a_moment_it_has_what_was_said_of_learned_values_by_then(shared: Catalog, tmp_path: Path) -> None:
    subject = Subject(What.PRICE, "sagemaker/us-east-1/ml.g5.xlarge/spot")
    moments = [datetime(2026, 11, day, tzinfo=timezone.utc) for day in (10, 12)]
    for at, value in zip(moments, (0.4, 0.5), strict=True):
        pin(shared.engine, subject, value, "anna", at)
    for as_of, value in ((moments[0], 0.4), (moments[1], 0.5), (None, 0.5)):
        copy = taken(shared, tmp_path / f"{as_of and as_of.day}.db", as_of)
        with reading(copy.engine) as connection:
            assert [one.value for one in pins(connection)] == [value]
