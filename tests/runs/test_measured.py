"""Metrics that nobody named are found in the logs afterwards, and may be kept with the run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import Damaged, Unreachable
from orchestrator.runs.run import Run
from tests.launcher.fakes import DONE, RUNNING, Life
from tests.runs.bench import plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.result import Attempt
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


def test_what_was_read_has_its_curves_though_nobody_keeps_it(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    rows = ours.with_curves(ours.measure(ours.results(), REGEXES))
    assert {row.task: row.curves for row in rows} == {
        0: {"acc": [(1, 0.1), (2, 0.2)]},
        1: {"acc": [(1, 0.9), (2, 0.4)]},
        2: {"acc": [(1, 0.3), (2, 0.3)]},
    }
    assert b">acc<" in ours.draw(rows, "svg")


def test_what_is_looked_for_is_drawn_before_the_many_metrics_that_trainings_report(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    desk.platform.written[f"{anchor.name}-0-1"].insert(0, "[sweep] step=1 a=1 b=2 c=3 d=4 e=5")
    (row,) = [row for row in ours.with_curves(ours.measure(ours.results(), REGEXES)) if row.task == 0]
    assert list(row.curves) == ["acc", "a", "b", "c", "d", "e"]


def test_nan_in_a_log_is_told_of_the_task_that_wrote_it(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    desk.platform.written[f"{anchor.name}-1-1"] += ["acc: nan"]
    rows = ours.measure(ours.results(), REGEXES)
    assert {row.task: row.not_finite for row in rows} == {0: (), 1: ("acc",), 2: ()}
    assert [(row.task, row.score) for row in rows] == [(2, 0.3), (0, 0.2), (1, None)]


def test_nan_comes_after_those_without_the_metric(desk: Desk, anchor: Anchor) -> None:
    ours = run(desk, anchor)
    desk.platform.written[f"{anchor.name}-1-1"] = ["acc: nan"]
    desk.platform.written[f"{anchor.name}-2-1"] = ["done"]
    assert [(row.task, row.score) for row in ours.measure(ours.results(), REGEXES)] == [(0, 0.2), (2, None), (1, None)]


def test_what_a_region_that_is_away_has_written_costs_nobody_else_a_metric(
    desk: Desk, anchor: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, read = run(desk, anchor), desk.platform.logs

    def logs(attempt: Attempt, *args: Any, **options: Any) -> Any:
        if attempt.task == 1:
            raise Unreachable("no answer", where=attempt.lane.region)
        return read(attempt, *args, **options)

    lanes = {row.task: row.region for row in ours.results()}
    monkeypatch.setattr(desk.platform, "logs", logs)
    rows = ours.measure(ours.results(), REGEXES, keep=True)
    assert {row.task: row.unread for row in rows if row.unread} == {
        task: f"{lanes[1]}: no answer" for task in lanes if lanes[task] == lanes[1] and task >= 1
    }
    assert scores(ours)[0] == 0.2
    assert scores(ours)[1] is None


def test_nan_that_a_launcher_has_seen_is_in_the_results(desk: Desk) -> None:
    desk.platform.lives = [Life(looks=[RUNNING, DONE])]
    anchor = desk.submit(desk.anchor(plan(tasks=1, train__metrics=["loss"], objective={"minimize": "loss"})))
    desk.platform.written[f"{anchor.name}-0-1"] = ["[sweep] step=1 loss=0.5 acc=1", "[sweep] step=2 loss=nan acc=2"]
    desk.launch(anchor, 0)
    desk.sync(anchor)
    (row,) = run(desk, anchor).results()
    assert (row.not_finite, row.metrics, row.score) == (("loss",), {"acc": 2}, None)


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
