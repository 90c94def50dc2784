"""Holds what a run says of itself against what trainings have written down and what the services of AWS show."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Purchase
from tests.e2e.three_platforms.company import prices
from tests.fixtures.witness import ec2_seconds, pod_seconds, task_and_attempt

if TYPE_CHECKING:
    from orchestrator import Orchestrator, Run
    from orchestrator.wire.result import Outcome
    from tests.e2e.three_platforms.company import Company
    from tests.fixtures.witness import Instance, Witness

ENDING_S = 300.0
"""Seconds in which the last launchers, and instances that shut down, have gone: many, for a slow machine."""


def check_done_once(company: Company, witness: Witness, run: Run, tasks: int) -> None:
    """Check that each task has one training that completed, and that none began beside it or after it."""
    jobs = witness.sagemaker(run.name)
    completed = [name for name, job in jobs.items() if job["TrainingJobStatus"] == "Completed"]
    completed += witness.machines_done(run.name)
    by_task = defaultdict(list)
    for training in completed:
        by_task[task_and_attempt(training)[0]].append(training)
    assert {task: len(names) for task, names in by_task.items()} == dict.fromkeys(range(tasks), 1)

    begun, finished = company.noted(run.name, "begun"), company.noted(run.name, "finished")
    assert company.noted(run.name, "twice") == {}
    assert set(completed) <= finished.keys()
    newest: dict[int, int] = {}
    for training in begun:
        task, attempt = task_and_attempt(training)
        newest[task] = max(attempt, newest.get(task, 0))
    assert newest == {task: task_and_attempt(names[0])[1] for task, names in by_task.items()}

    rows = run.results()
    assert {row.task: (row.state, row.training) for row in rows} == {
        task: (TaskState.DONE, names[0]) for task, names in by_task.items()
    }
    assert {row.task: row.metrics["loss"] for row in rows} == {
        row.task: (int(row.point["x"]) - 2) ** 2 + 1 for row in rows
    }


def check_costs(company: Company, witness: Witness, run: Run) -> float:
    """Check that the run's cost is what the services have billed, training by training. Return it."""
    known = [one for task in run.ledger.known(run.name) for one in task.result.outcomes]
    outcomes = {one.training: one for one in known}
    assert len(outcomes) == len(known), "an attempt is billed twice"
    rates = {tuple(line.split(",")[:3]): float(line.split(",")[4]) for line in prices() if ",on_demand," in line}
    jobs, instances = witness.sagemaker(run.name), witness.instances(run.name)
    assert jobs.keys() | instances.keys() <= outcomes.keys(), "something was started that is not billed"
    words = witness.last_words(run.name)
    moments = witness.moments(run.name)
    for training, one in outcomes.items():
        lane = one.lane
        rate = rates[lane.platform, lane.region, lane.instance_type]
        if lane.platform == "sagemaker":
            seconds = float(jobs[training].get("BillableTimeInSeconds", 0.0)) if training in jobs else 0.0
            assert one.usd == pytest.approx(seconds * rate / 3600), training
        elif lane.platform == "ec2":
            _check_ec2(witness, one, instances.get(training, []), rate, words.get(training, {}))
        else:
            _check_cost_of_pod(witness, one, rate)
            _check_pod(company, one, moments)
    total = sum(one.usd for one in known)
    assert sum(row.usd for row in run.cost()) == pytest.approx(total)
    assert {(row.platform, row.region) for row in run.cost()} == {(one.lane.platform, one.lane.region) for one in known}
    return total


def _check_ec2(
    witness: Witness, outcome: Outcome, instances: list[Instance], rate: float, words: dict[int, Any]
) -> None:
    """Check what instances are said to have cost: spot by what the zone's price has been since."""
    least, most = ec2_seconds(instances, words, outcome.ended_at)
    assert least <= outcome.billable_s <= most, outcome.training
    usd = [rate]
    if outcome.lane.purchase is Purchase.SPOT:
        found = [
            price
            for one in instances
            for price in witness.spot_prices(one.region, one.zone, outcome.lane.instance_type, one.began_at)
        ]
        assert found or not instances, "a zone has no price"
        usd = [min(price, rate) for price in found] or usd
    seconds = outcome.billable_s * len(instances) / 3600
    assert seconds * min(usd) - 1e-9 <= outcome.usd <= seconds * max(usd) + 1e-9, outcome.training


def _check_cost_of_pod(witness: Witness, outcome: Outcome, rate: float) -> None:
    """Check what a pod is said to have cost: on spot by what some zone's price has been since."""
    usd = [rate]
    if outcome.lane.purchase is Purchase.SPOT and outcome.started_at is not None:
        found = witness.spot_prices(outcome.lane.region, "", outcome.lane.instance_type, outcome.started_at)
        usd = [min(price, rate) for price in found] or usd
    seconds = outcome.billable_s / 3600
    assert seconds * min(usd) - 1e-9 <= outcome.usd <= seconds * max(usd) + 1e-9, outcome.training


def _check_pod(company: Company, outcome: Outcome, moments: dict[str, float]) -> None:
    """Check that a pod is billed for the time that its training took, and for no more than it was known for."""
    training = outcome.training
    run = training.rsplit("-", 2)[0]
    begun, finished = company.noted(run, "begun").get(training), company.noted(run, "finished").get(training)
    assert outcome.billable_s <= pod_seconds(outcome, run, moments), training
    if begun and finished:
        assert outcome.billable_s >= finished[-1] - begun[0], training
    if begun:
        assert outcome.billable_s > 0, f"{training} has run, and costs nothing"


def check_nothing_left(witness: Witness, orchestrator: Orchestrator, run: Run) -> None:
    """Check that a run leaves nothing that costs money or slots, as soon as its last launchers have gone."""
    until = time.monotonic() + ENDING_S
    while (left := witness.left(run.name)) and time.monotonic() < until:
        time.sleep(0.5)
    assert left == []
    search = orchestrator.reap()
    assert (search.strays, search.arrays, search.leftovers) == ([], [], [])
    assert [use for use in orchestrator.catalog.quota_use() if use.held] == []
