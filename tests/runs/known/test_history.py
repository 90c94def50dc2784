"""What finished tasks teach: the ledger's rows as the planner's tables, and a repeated sweep that needs no runtime."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from orchestrator import Plan, read
from orchestrator.db.database import Database
from orchestrator.db.engine import writing
from orchestrator.db.tables import runs
from orchestrator.plan.plan import Dataset, Share
from orchestrator.runs.cloud import Account
from orchestrator.runs.known.history import RUNS, TASKS, history, history_of_lanes
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.known.rows import Known
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.result import Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.database import whole_runs
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.fixtures.team import Team

SPOT = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
ON_DEMAND = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.ON_DEMAND)
ACCOUNT = Account("us-east-1", "control", "data-{region}", "sweep", "sweep", "role", "me", 30.0)


def attempt(number: int = 1, lane: Lane = SPOT, hours: float = 1.0, **changes: Any) -> Outcome:
    seconds = hours * 3600
    state = TaskState.DONE if "cause" not in changes else TaskState.FAILED
    money = {"usd": 0.4 * hours * changes.get("instances", 1)} | changes
    return Outcome(number, lane, "t", state, seconds=seconds, billable_s=0.4 * seconds, **money)


@dataclass
class Memory:
    """A ledger, and runs to remember in it: two datasets of five points each."""

    ledger: Ledger

    def run(self, run: str, tasks: dict[int, list[Outcome]], day: int = 1, **changes: Any) -> None:
        self.keep(run, ((task, outcomes, TaskState.DONE) for task, outcomes in tasks.items()), day, **changes)

    def keep(
        self, run: str, tasks: Iterable[tuple[int, list[Outcome], TaskState]], day: int = 1, **changes: Any
    ) -> None:
        space = {"epochs": [1, 2, 3, 4, 5], "kind": ["a"], "exact": [True]}
        sweep = make_sweep(**{"name": "nightly", "space": space, "runtime": 1.0} | changes)
        share = Share(0, len(sweep.points), 0, (Place(SPOT, "s3://data/a/", 1.0),), 1.0, 1.0, Limits(3600))
        shares = (share, replace(share, first=len(sweep.points), dataset=1))
        plan = Plan(sweep, "market", (Dataset("alps@1", 100), Dataset("bay@1", 200)), shares)
        self.ledger.remember(Anchor(run, plan, "code", "me", float(day)), ACCOUNT)
        self.ledger.save(
            run,
            (Known(f'"{n}"', Result(n, "key", state, outcomes=tuple(its)), state) for n, its, state in tasks),
        )

    def learned(self, workload: str = "nightly") -> list[tuple[Any, ...]]:
        rows = history(self.ledger.engine, workload).history
        return list(rows.itertuples(index=False, name=None))


@pytest.fixture
def memory(database_url: str) -> Memory:
    return Memory(Ledger(Database(database_url)))


def test_a_finished_task_is_a_row_with_its_data_and_all_its_numbers(memory: Memory) -> None:
    memory.run(
        "one",
        {1: [attempt(hours=2.0, instances=2)], 7: [attempt(lane=ON_DEMAND, hours=0.5)]},
        train__hyperparameters={"depth": 18, "note": "text"},
    )
    assert memory.learned() == [
        ("sagemaker", "us-east-1", "ml.g5.xlarge", "spot", 2, 100, '{"depth":18,"epochs":2,"exact":true}', 2.0),
        ("sagemaker", "eu-west-1", "ml.g5.xlarge", "on_demand", 1, 200, '{"depth":18,"epochs":3,"exact":true}', 0.5),
    ]


def test_platforms_are_told_apart(memory: Memory) -> None:
    elsewhere = replace(SPOT, platform="elsewhere")
    memory.run("one", {0: [attempt()], 1: [attempt(lane=elsewhere)], 2: [attempt(usd=0.5)]})
    assert [row[0] for row in memory.learned()] == ["sagemaker", "elsewhere", "sagemaker"]
    found = list(history_of_lanes(memory.ledger.engine).discounts.itertuples(index=False, name=None))
    assert found == [
        ("elsewhere", "us-east-1", "ml.g5.xlarge", 1.0, pytest.approx(0.4)),
        ("sagemaker", "us-east-1", "ml.g5.xlarge", 2.0, pytest.approx(0.45)),
    ]


def test_other_workloads_and_unfinished_tasks_teach_no_hours(memory: Memory) -> None:
    memory.run("other", {0: [attempt()]}, name="weekly")
    states = (TaskState.FAILED, TaskState.RUNNING, TaskState.PENDING)
    memory.keep("mine", ((task, [attempt()], state) for task, state in enumerate(states)))
    assert memory.learned() == []
    assert len(memory.learned("weekly")) == 1


def test_the_newest_run_comes_first(memory: Memory) -> None:
    for day, hours in ((1, 1.0), (3, 3.0), (2, 2.0)):
        memory.run(f"night-{day}", {0: [attempt(hours=hours)], 1: [attempt(hours=hours + 0.5)]}, day)
    assert [row[-1] for row in memory.learned()] == [3.0, 3.5, 2.0, 2.5, 1.0, 1.5]


def test_a_task_that_was_interrupted_or_went_on_elsewhere_teaches_no_hours(memory: Memory) -> None:
    memory.run(
        "one",
        {
            0: [attempt(1, hours=0.7, cause=Cause.INTERRUPTED), attempt(2)],
            1: [attempt(2, hours=3.0)],  # a retry: what came before is in nobody's result any more
            2: [attempt(1, hours=0.0, cause=Cause.CAPACITY), attempt(2, hours=4.0)],
        },
    )
    assert [row[-1] for row in memory.learned()] == [4.0]


def test_discounts_are_the_median_of_spot_over_all_workloads(memory: Memory) -> None:
    for run, billed in (("one", 0.2), ("two", 0.3), ("three", 0.9), ("unknown", 0.0)):
        paid = attempt(hours=2.0, instances=3, usd=billed * 6)
        memory.run(run, {0: [paid], 1: [attempt(lane=ON_DEMAND)]}, name=run)
    found = list(history_of_lanes(memory.ledger.engine).discounts.itertuples(index=False, name=None))
    assert found == [("sagemaker", "us-east-1", "ml.g5.xlarge", 3 * 2.0 * 3, pytest.approx(0.3))]
    assert history(memory.ledger.engine, "nothing").discounts.equals(history_of_lanes(memory.ledger.engine).discounts)


def test_an_hour_of_spot_counts_the_same_in_a_short_task_or_a_long_one(memory: Memory) -> None:
    short = {task: [attempt(hours=0.01, usd=0.01 * 0.9)] for task in range(5)}
    memory.run("one", short | {5: [attempt(hours=1.0, usd=0.3)]})
    (found,) = history_of_lanes(memory.ledger.engine).discounts.itertuples(index=False, name=None)
    assert found[3:] == (pytest.approx(1.05), pytest.approx(0.3))


def test_an_empty_ledger_teaches_nothing(memory: Memory) -> None:
    found = history(memory.ledger.engine, "nightly")
    assert found.history.empty
    assert found.discounts.empty


def test_a_run_that_cannot_be_read_any_more_is_passed_over(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory.run("old", {0: [attempt()]}, 1)
    memory.run("new", {0: [attempt(hours=2.0)]}, 2)
    with writing(memory.ledger.engine) as connection:
        document = connection.execute(select(runs.c.document).where(runs.c.name == "old")).scalar_one()
        changed = document.replace('"retries":0', '"retries":-1')
        assert changed != document
        connection.execute(update(runs).where(runs.c.name == "old").values(document=changed))
    assert [row[-1] for row in memory.learned()] == [2.0]
    assert "nothing is learned from run old, which cannot be read" in caplog.text


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_of_a_long_past_the_newest_tasks_are_looked_at_and_some_from_all_over_a_large_run(memory: Memory) -> None:
    space = {"epochs": {"range": [1, 10]}, "seed": {"range": [1, 2000]}}
    lanes = (SPOT, ON_DEMAND)
    for day, count in ((1, 5), (2, 20_000), (3, 100)):
        memory.run(f"night-{day}", {n: [attempt(lane=lanes[n % 2], hours=day)] for n in range(count)}, day, space=space)
    found = memory.learned()
    assert 0.95 * TASKS < len(found) <= 1.05 * TASKS
    assert [row[-1] for row in found[:100]] == [3.0] * 100
    assert {row[-1] for row in found[100:]} == {2.0}
    spot = sum(row[3] == "spot" for row in found)
    assert spot == pytest.approx(len(found) / 2, rel=0.05)
    epochs = [json.loads(row[6])["epochs"] for row in found]
    assert all(epochs.count(n) == pytest.approx(TASKS / 10, rel=0.2) for n in range(1, 11))
    assert found == memory.learned()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_only_so_many_runs_are_read(memory: Memory) -> None:
    for day in range(RUNS + 3):
        memory.run(f"night-{day:03}", {0: [attempt(hours=day + 1)]}, day)
    assert [row[-1] for row in memory.learned()] == [float(day) for day in range(RUNS + 3, 3, -1)]


@whole_runs
def test_a_sweep_of_every_night_needs_no_runtime_any_more(team: Team, name: str) -> None:
    first = team.plan("[1, 2, 3, 4, 5]", data="{campaigns: [alps]}")
    assert first.notes[0].startswith("runtime: 0.01 hours")
    run = team.orchestrator().submit(first, name=name)
    list(run.watch(every_s=0.3))
    assert run.status().state == "done"

    file = team.folder / "sweep.yaml"
    file.write_text(file.read_text().replace("runtime: 0.01\n", "").replace("[1, 2, 3, 4, 5]", "[6]"))
    again = team.orchestrator().plan(read(file))
    assert again.notes[0].startswith("runtime of ml.c5.xlarge: learned from 5 finished tasks of small; 8 in 10 took ")
    took = sorted(row.seconds / 3600 for row in run.results())
    assert all(took[0] * 0.9 <= share.hours <= took[-1] * 1.1 for share in again.shares)
    seen = history_of_lanes(team.orchestrator().ledger.engine).seen
    assert seen.starts["trainings"].sum() == 5
    assert (seen.starts["start_h"] >= 0).all()
    assert (seen.asked["refused_h"] == 0).all()
    assert again.tasks == 1
    assert again.id == team.orchestrator().plan(read(file)).id
