"""One damaged object costs its own task a line, never the whole run; and it is named."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING

import pytest

from orchestrator.aws.s3 import Stored
from orchestrator.errors import Damaged, NewerVersion, SweepError
from orchestrator.runs.known.damage import Damage
from orchestrator.runs.run import Run
from orchestrator.runs.runs import Runs
from orchestrator.runs.written.anchor import find
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import TaskState
from tests.fixtures.spoil import spoiled
from tests.launcher.fakes import DONE, RUNNING, Life
from tests.runs.bench import ACCOUNT, Desk, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.launcher.drive import Driver
    from orchestrator.runs.written.anchor import Anchor

CASES = 60
"""Damages that are tried of each kind; `make test-long` tries all."""


def run_of_every_kind(desk: Desk) -> Anchor:
    """Make a run whose task 0 is done, whose task 1 ran before a retry and runs now, and whose task 2 waits."""
    anchor = desk.submit(desk.anchor(plan(tasks=3)))
    desk.launch(anchor, 0)
    desk.platform.lives = [Life(looks=[RUNNING])]
    desk.cancel(anchor)
    desk.retry(anchor, "1-2")
    driver = desk.launcher(anchor, 1)
    driver._load()
    for _ in range(4):
        driver._take_step()
    return anchor


def looked_at(desk: Desk, anchor: Anchor, machine: str) -> tuple[dict[int, TaskState], float, str]:
    """Return what all commands that look at a run show of it: states, dollars and what is said to be damaged."""
    ledger = desk.ledger(machine)
    ledger.remember(anchor, ACCOUNT)
    run = Run(anchor, ledger, desk.cloud)
    run.sync_as_far_as_possible()
    status, rows, cost = run.status(), run.results(), run.cost()
    lines = list(run.logs())
    assert sum(status.counts.values()) == 3 == len(rows)
    assert all(line.task in (0, 1) for line in lines)
    assert sum(row.usd for row in cost) == pytest.approx(status.usd)
    assert 0 <= status.usd < 1e12
    try:
        ledger.damage.check()
    except Damaged as error:
        return {row.task: row.state for row in rows}, status.usd, str(error)
    return {row.task: row.state for row in rows}, status.usd, ""


def tampered(desk: Desk, how_many: int | None) -> Iterator[tuple[str, bytes]]:
    keys = [key for key in desk.bucket.objects if key.startswith("runs/") and not key.endswith((".manifest", ".index"))]
    others = [key for key in keys if not key.endswith("run.json") and "/news/" not in key]
    every = [(key, body) for key in others for body in spoiled(desk.bucket.objects[key].body)]
    yield from every if how_many is None else Random(12).sample(every, how_many)


def check_all(desk: Desk, how_many: int | None) -> None:
    anchor = run_of_every_kind(desk)
    right, usd, damage = looked_at(desk, anchor, "ours")
    assert (right, damage) == ({0: TaskState.DONE, 1: TaskState.RUNNING, 2: TaskState.PENDING}, "")
    good = dict(desk.bucket.objects)
    for number, (key, body) in enumerate(tampered(desk, how_many)):
        machine = f"machine-{number}"
        desk.bucket.objects[key] = Stored(body, f'"spoiled-{number}"')
        try:
            seen, now_usd, damage = looked_at(desk, anchor, machine)
        except NewerVersion as error:
            seen, now_usd, damage = {}, 0.0, str(error)
        except Exception as error:
            raise AssertionError(f"{key}: {body[:300]!r}") from error
        if "results/" in key and damage:
            task = int(key.rpartition("/")[2].removesuffix(".json"))
            others = {other: state for other, state in seen.items() if other != task}
            assert others == {other: state for other, state in right.items() if other != task}, (key, body)
        assert not damage or key in damage or "attempts/" in key, (key, body[:300], damage)
        assert now_usd <= usd + 1e-9 or "usd" in str(body), (key, body)
        desk.bucket.objects.clear()
        desk.bucket.objects.update(good)
        desk.forget(machine)


def test_whatever_is_damaged_the_other_tasks_are_shown(desk: Desk) -> None:
    check_all(desk, CASES)


@pytest.mark.long
def test_whatever_is_damaged_in_any_way_the_other_tasks_are_shown(desk: Desk) -> None:
    check_all(desk, None)


def anchor_or_error(desk: Desk) -> Anchor | SweepError:
    try:
        found = find(desk.bucket, "nightly")
    except (Damaged, NewerVersion) as error:
        return error
    assert found
    return found


def test_a_run_that_cannot_be_read_is_damaged_and_nothing_else(desk: Desk) -> None:
    key = desk.submit().keys.anchor
    every = list(spoiled(desk.bucket.objects[key].body))
    right = json.loads(desk.bucket.objects[key].body)
    believed = 0
    for body in every:
        desk.bucket.objects[key] = Stored(body, '"spoiled"')
        found = anchor_or_error(desk)
        if isinstance(found, SweepError):
            assert found.where == f"s3://control/{key}"
        else:
            assert found.plan.tasks == 3 or json.loads(body)["plan"]["sweep"] != right["plan"]["sweep"]
            believed += 1
    assert believed < len(every) / 3  # texts and amounts that may be anything


def test_a_retry_by_number_finds_out_again_how_a_task_ended_and_trains_nothing_twice(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    desk.launch(anchor, 0)
    desk.launch(anchor, 1)
    key = anchor.keys.result(0)
    desk.bucket.objects[key] = Stored(b"{", '"spoiled"')
    desk.sync(anchor)
    assert desk.ledger().damage.tasks("nightly") == {0}
    trained = list(desk.platform.created)
    desk.retry(anchor, "0")
    desk.launch(anchor, 0)
    desk.sync(anchor)
    assert desk.platform.created == trained
    assert desk.states(anchor) == {0: "done", 1: "done"}
    desk.ledger().damage.check()


def test_a_launcher_replaces_a_result_that_cannot_be_understood(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    desk.bucket.objects[anchor.keys.result(0)] = Stored(b'{"usd": -1}', '"spoiled"')
    desk.launch(anchor, 0)
    desk.sync(anchor)
    assert desk.states(anchor) == {0: "done"}


def test_watching_ends_when_nothing_is_left_but_what_nobody_understands(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    desk.launch(anchor, 0)
    desk.launch(anchor, 1)
    desk.bucket.objects[anchor.keys.result(1)] = Stored(b"[]", '"spoiled"')
    for key in [key for key in desk.bucket.objects if "/news/" in key and "~1~1~1~" in key]:
        del desk.bucket.objects[key]
    ledger = desk.ledger("theirs")
    ledger.remember(anchor, ACCOUNT)
    seen = list(Run(anchor, ledger, desk.cloud).watch(every_s=0))
    assert [one.counts[TaskState.DONE] for one in seen] == [1]


def test_a_cancel_stops_all_others_and_names_the_attempt_that_it_cannot_read(desk: Desk) -> None:
    desk.platform.lives = [Life(looks=[RUNNING])]
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    for task in (0, 1):
        driver = desk.launcher(anchor, task)
        driver._load()
        for _ in range(3):
            driver._take_step()
    key = anchor.keys.attempt(0, 1)
    desk.bucket.objects[key] = Stored(b"\0", '"spoiled"')
    with pytest.raises(Damaged) as raised:
        desk.cancel(anchor)
    assert raised.value.where.endswith(key)
    assert desk.platform.alive == ["nightly-0-1"]


def running(desk: Desk) -> tuple[Anchor, list[Driver]]:
    """A run whose two tasks were retried by a second submission and run, with their launchers."""
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    desk.platform.lives = [Life(looks=[RUNNING])]
    desk.cancel(anchor)
    desk.retry(anchor, "0-1")
    drivers = [desk.launcher(anchor, task) for task in (0, 1)]
    for driver in drivers:
        driver._load()
        for _ in range(3):
            driver._take_step()
    assert len(desk.platform.alive) == 2
    return anchor, drivers


@pytest.mark.parametrize("what", ["submissions/2.json", "submissions/1.json", "cancel", "fence", "pause", "limit"])
@pytest.mark.parametrize("machine", ["ours", "theirs"])
def test_a_cancel_stops_everything_though_what_was_ordered_cannot_be_read(desk: Desk, what: str, machine: str) -> None:
    anchor, _ = running(desk)
    key = anchor.keys.prefix + what
    desk.bucket.objects[key] = Stored(b'{"version": 1, "slots": 3}', '"spoiled"')
    if machine == "theirs":
        desk.ledger("theirs").remember(anchor, ACCOUNT)
    desk.cancel(anchor, machine)
    assert desk.platform.alive == []
    assert all(job.status in ("SUCCEEDED", "FAILED") for job in desk.batch.jobs)
    assert set(desk.states(anchor, machine).values()) == {"cancelled"}
    if what != "fence":  # which nobody needs who stops everything
        with pytest.raises(Damaged, match=re.escape(key)):
            desk.ledger(machine).damage.check()


def test_a_damaged_order_does_not_end_a_watch(desk: Desk) -> None:
    anchor, drivers = running(desk)
    desk.bucket.objects[anchor.keys.submission(2)] = Stored(b"{", '"spoiled"')
    ledger = desk.ledger("theirs")
    ledger.remember(anchor, ACCOUNT)
    statuses = Run(anchor, ledger, desk.cloud).watch(every_s=0)
    assert next(statuses).counts[TaskState.RUNNING] == 2
    for training in desk.platform.trainings.values():
        training.looks = [DONE]
    assert [driver.drive() for driver in drivers] == [Exit.DONE] * 2
    assert [one.counts[TaskState.DONE] for one in statuses][-1] == 2
    with pytest.raises(Damaged, match=r"submissions/2\.json"):
        ledger.damage.check()


def test_an_error_names_few_of_many_objects() -> None:
    damage = Damage()
    for number in range(8):
        damage.note(Damaged("is spoiled", where=f"s3://control/{number}"))
    with pytest.raises(Damaged, match=r"8 stored objects are left out: s3://control/0 is spoiled; .*; and 3 more"):
        damage.check()


def test_a_run_in_the_database_that_cannot_be_read_leaves_the_others(desk: Desk) -> None:
    for name in ("nightly", "weekly"):
        desk.submit(desk.anchor(name=name))
    key = desk.anchor(name="weekly").keys.anchor
    desk.bucket.objects[key] = Stored(desk.bucket.objects[key].body.replace(b'"count":3', b'"count":-5'), '"spoiled"')
    ledger = desk.ledger("theirs")
    runs = Runs(ledger, lambda _: desk.cloud(), ACCOUNT.bucket)
    assert runs.names() == ["nightly"]
    assert runs.of_sweep(plan().sweep, "nightly") is not None
    with pytest.raises(Damaged, match=r"runs/weekly/run\.json .*count"):
        ledger.damage.check()


@pytest.mark.parametrize("documents", [True, False])
def test_results_that_are_gone_are_named_and_what_was_told_of_them_stays(desk: Desk, documents: bool) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=3)))
    for task in range(3):
        desk.launch(anchor, task)
    for task in (0, 2):
        del desk.bucket.objects[anchor.keys.result(task)]
    ledger = desk.ledger("theirs")
    ledger.remember(anchor, ACCOUNT)
    run = Run(anchor, ledger, desk.cloud)
    run.sync_as_far_as_possible(documents=documents)
    assert run.status().counts[TaskState.DONE] == 3
    with pytest.raises(Damaged, match="2 stored objects are left out") as caught:
        ledger.damage.check()
    assert f"{anchor.keys.result(0)} is gone" in caught.value.message
    assert "sweep retry --task" in caught.value.hint
