"""What was learned is shown as plans count it, with what it rests on; pins and what was forgotten change both alike."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from orchestrator.catalog.catalog import Catalog
from orchestrator.db.database import Database
from orchestrator.db.engine import writing
from orchestrator.db.tables import runs
from orchestrator.errors import Damaged, UsageError
from orchestrator.learned import Learned, LearnedRow
from orchestrator.plans import Plans
from orchestrator.rules import Rules
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.past.marks import What
from orchestrator.settings.settings import Settings
from tests.fixtures.sweeps import make_sweep
from tests.runs.past.history import HOUR, NOW, SPOT, Past, refused, trained

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.plan.plan import Plan
    from orchestrator.wire.result import Outcome

LANE = str(SPOT)
ONCE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""What is asked of the database here is asked of PostgreSQL as well in tests/runs/past."""


class Team:
    """A catalog with one spot lane, a ledger, and what people say."""

    def __init__(self, url: str, folder: Path) -> None:
        database, settings = Database(url), Settings(database=url, owner="anna")
        self.catalog = Catalog(database, Rules(settings).all())
        self.past = Past(Ledger(database))
        self.learned = Learned(self.catalog, self.past.ledger, "anna")
        self.plans = Plans(self.catalog, Rules(settings))
        self._load(folder)

    def _load(self, folder: Path) -> None:
        files = {
            "campaigns.csv": "campaign\nalps\n",
            "datasets.csv": "campaign,version,bytes,created_at\nalps,1,1000000000,2026-01-01\n",
            "replicas.csv": "dataset,region,s3_uri\nalps@1,us-east-1,s3://data/alps/\n",
            "prices.csv": (
                "region,instance_type,purchase,usd_per_hour,observed_at\n"
                "us-east-1,ml.g5.xlarge,spot,0.5,2026-01-01\nus-east-1,ml.g5.xlarge,on_demand,1.4,2026-01-01\n"
            ),
        }
        for name, text in files.items():
            (folder / name).write_text(text)
        self.catalog.load([folder])

    def row(self, what: What, place: str = LANE) -> LearnedRow | None:
        return next((row for row in self.learned.rows() if (row.what, row.place) == (what, place)), None)

    def known(self, what: What, place: str = LANE) -> LearnedRow:
        found = self.row(what, place)
        assert found is not None
        return found

    def plan(self) -> Plan:
        sweep = make_sweep(name="nightly", runtime=None, space={"seed": [1, 2]}, where__purchases=["spot"])
        return self.plans.make(sweep, None)


@pytest.fixture
def team(database_url: str, tmp_path: Path) -> Team:
    return Team(database_url, tmp_path)


def of_today(outcome: Outcome) -> Outcome:
    """Return an outcome of NOW as one of the real now: what a plan counts by."""
    moved = time.time() - NOW
    moments = {name: getattr(outcome, name) for name in ("requested_at", "started_at", "ended_at")}
    return replace(outcome, **{name: at if at is None else at + moved for name, at in moments.items()})


def test_what_is_shown_is_what_a_plan_counts(team: Team) -> None:
    team.past.ended(*([of_today(trained(n + 1, started_at=NOW - (n + 1) * HOUR + 900))] for n in range(20)))
    team.past.ended([of_today(refused(2))])
    rows = {row.what: row for row in team.learned.rows()}
    assert list(rows) == list(What)
    fact, share = team.plan().prices[0], team.plan().shares[0]
    assert (rows[What.PRICE].value, rows[What.PRICE].prior) == (pytest.approx(fact.usd_per_hour), 0.5)
    assert rows[What.INTERRUPTIONS].value == pytest.approx(fact.interruptions_per_hour)
    assert rows[What.WAITING].refused == pytest.approx(fact.refused, abs=0.02)
    start = rows[What.START]
    assert (start.seen, start.rests_on, start.weight) == (0.25, 20, 0.5)
    assert start.value == pytest.approx((0.25 + 0.05) / 2)
    runtime = rows[What.RUNTIME]
    assert (runtime.rests_on, runtime.place, runtime.workload) == (20, "ml.g5.xlarge", "nightly")
    assert runtime.value == pytest.approx(0.5)
    held = share.longest or 0.0
    assert share.finish == pytest.approx(held + (start.value or 0.0) + (rows[What.WAITING].value or 0.0), abs=0.02)


@ONCE
def test_a_pin_counts_until_it_is_taken_away(team: Team) -> None:
    team.past.ended(*([of_today(trained(n + 1))] for n in range(6)))
    before = team.plan()
    team.learned.pin("price", LANE, 0.9)
    team.learned.pin("runtime", "ml.g5.xlarge", 3.0, "nightly")
    team.learned.pin("runtime", "ml.g5.xlarge", 9.0, "weekly")
    pinned = team.plan()
    assert pinned.prices[0].usd_per_hour == 0.9
    assert pinned.shares[0].hours == pytest.approx(3.0, rel=0.3)
    assert any(
        note.startswith(f"pinned: the price of {LANE} is $0.9 an hour, as anna said on ") for note in pinned.notes
    )
    row = team.known(What.PRICE)
    assert (row.value, row.pinned_by, row.weight) == (0.9, "anna", 0.0)
    team.learned.unpin("price", LANE)
    team.learned.unpin("runtime", "ml.g5.xlarge", "nightly")
    assert (team.plan().usd, team.known(What.PRICE).pinned_by) == (before.usd, "")
    with pytest.raises(UsageError, match=r"no price of .* is pinned"):
        team.learned.unpin("price", LANE)


@ONCE
def test_what_is_forgotten_does_not_count_any_more(team: Team) -> None:
    team.past.ended(*([of_today(trained(n + 1))] for n in range(6)), [of_today(refused(2))])
    for what in ("price", "interruptions", "waiting", "start"):
        team.learned.forget(what, LANE if what == "price" else None)
        assert team.row(What(what)) is None
    team.learned.forget("runtime", None, "nightly")
    assert team.learned.rows() == []
    assert any("A GUESS" in note for note in team.plan().notes)
    team.past.ended([replace(of_today(trained(0)), requested_at=time.time(), started_at=time.time())])
    assert team.known(What.START).rests_on == 1


@ONCE
def test_a_run_that_cannot_be_read_is_named_and_an_older_one_tells_of_its_workload(team: Team) -> None:
    for _ in range(2):
        team.past.ended(*([of_today(trained(n + 1))] for n in range(6)))
    with writing(team.past.ledger.engine) as connection:
        connection.execute(update(runs).where(runs.c.name == "run-0").values(document="{", created_at=2.0))
    assert team.known(What.RUNTIME, "ml.g5.xlarge").rests_on == 6
    with pytest.raises(Damaged):
        team.past.ledger.damage.check()


@ONCE
@pytest.mark.parametrize(
    ("what", "place", "said"),
    [
        ("price", "somewhere", "'somewhere' is no lane"),
        ("price", "sagemaker/us-east-1/ml.g5.xlarge/on_demand", "a price is learned of spot only"),
        ("start", "sagemaker/us-east-1/ml.g5.xlarg/spot", "did you mean 'sagemaker/us-east-1/ml.g5.xlarge/spot'"),
        ("runtime", "ml.g5.xlarge", "a runtime is of a workload"),
    ],
)
def test_what_nobody_knows_is_not_pinned(team: Team, what: str, place: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        team.learned.pin(what, place, 1.0)
