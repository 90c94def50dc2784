"""Metrics that nobody named are found in the logs afterwards, and may be kept with the run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Damaged
from orchestrator.runs.run import Run
from tests.launcher.fakes import DONE, RUNNING, Life
from tests.runs.bench import plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk

REGEXES = {"acc": re.compile("acc: ([0-9.]+)")}


@pytest.fixture
def anchor(desk: Desk) -> Anchor:
    """A run of three done tasks, whose logs show an accuracy that the sweep file asks for in other words."""
    desk.platform.lives = [Life(looks=[RUNNING, DONE])]
    body = {"train__metrics": {"acc": "accuracy=([0-9.]+)"}, "objective": {"maximize": "acc"}}
    anchor = desk.submit(desk.anchor(plan(tasks=3, **body)))
    for task, values in {0: (0.1, 0.2), 1: (0.9, 0.4), 2: (0.3, 0.3)}.items():
        desk.platform.written[f"{anchor.name}-{task}-1"] = [f"acc: {value}" for value in values]
        desk.launch(anchor, task)
    desk.sync(anchor)
    return anchor


def run(desk: Desk, anchor: Anchor, machine: str = "ours") -> Run:
    desk.ledger(machine)
    return Run(anchor, desk.ledger(machine), desk.cloud)


def scores(run: Run) -> dict[int, float | None]:
    return {row.task: row.score for row in run.results()}


def test_what_is_found_and_not_kept_is_gone_with_the_command(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    assert [row.task for row in ours.measure(ours.results(), REGEXES)] == [1, 2, 0]
    assert set(scores(ours).values()) == {None}


def test_what_is_kept_ranks_everybody_s_results(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    assert [row.task for row in ours.measure(ours.results(), REGEXES, keep=True)] == [1, 2, 0]
    assert scores(ours) == {1: 0.4, 2: 0.3, 0: 0.2}
    desk.sync(anchor, "theirs")
    theirs = run(desk, anchor, "theirs")
    assert list(scores(theirs)) == [1, 2, 0]
    (best,) = theirs.with_curves(theirs.results()[:1])
    assert best.curves == {"acc": [(1, 0.9), (2, 0.4)]}


def test_a_task_that_is_trained_again_is_not_what_it_was(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    ours.measure(ours.results(), REGEXES, keep=True)
    desk.retry(anchor, "1", again=True)
    desk.platform.lives = [Life(looks=[RUNNING, DONE])] * 2
    desk.launch(anchor, 1)
    desk.sync(anchor)
    assert scores(ours) == {2: 0.3, 0: 0.2, 1: None}


def test_a_metric_of_the_same_name_gives_way(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    ours.measure(ours.results(), REGEXES, keep=True)
    ours.measure(ours.results(), {"acc": re.compile("acc: 0.([0-9]+)")}, keep=True)
    assert scores(ours) == {1: 4.0, 2: 3.0, 0: 2.0}


def test_damage_is_named_and_the_rest_is_there(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    ours.measure(ours.results(), REGEXES, keep=True)
    stored = desk.bucket.get(anchor.keys.measured)
    desk.bucket.put_if(anchor.keys.measured, b'{"metrics": {"acc": 3}}', stored.etag)
    desk.sync(anchor)
    with pytest.raises(Damaged, match="runs/nightly/measured"):
        desk.ledger().damage.check()
    assert scores(ours) == {1: 0.4, 2: 0.3, 0: 0.2}  # as it was last known
    ours.measure(ours.results(), REGEXES, keep=True)
    desk.sync(anchor, "theirs")
    assert scores(run(desk, anchor, "theirs")) == {1: 0.4, 2: 0.3, 0: 0.2}
