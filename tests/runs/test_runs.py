"""Which run has a name: the bucket is asked before a database is believed."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import NotFound, Refused, Unreachable, UsageError
from orchestrator.runs.known import lease
from orchestrator.runs.known.lease import held
from orchestrator.runs.runs import Runs
from orchestrator.wire.names import RunKeys
from tests.fixtures.sweeps import make_sweep
from tests.runs.bench import ACCOUNT, Desk, plan

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.written.anchor import Anchor


class Killed(BaseException):
    """As SIGKILL would: nothing after it runs."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def runs(desk: Desk, machine: str = "ours") -> Runs:
    return Runs(desk.ledger(machine), lambda _: desk.cloud(), ACCOUNT.bucket)


def make(desk: Desk, anchor: Anchor, machine: str = "ours", *, again: bool = False) -> Anchor:
    return runs(desk, machine).make(anchor, lambda _: None, lambda _: "", again=again)


def killed_before_its_anchor(desk: Desk, anchor: Anchor) -> None:
    """Die between the commit to the database and the writing of `run.json`."""

    def die(what: str) -> None:
        if what == "put":
            raise Killed

    desk.bucket.before = die
    with suppress(Killed):
        make(desk, anchor)
    desk.bucket.before = lambda _: None


def ours(desk: Desk) -> Anchor:
    return desk.anchor(plan(tasks=3, slots=2))


def theirs(desk: Desk) -> Anchor:
    return desk.anchor(plan(tasks=5, slots=2, name="theirs"), owner="bob")


def test_a_note_without_an_anchor_is_no_run(desk: Desk) -> None:
    killed_before_its_anchor(desk, ours(desk))
    assert runs(desk).names() == []
    with pytest.raises(UsageError, match=r"no run 'nightly' \(a submit of it was stopped before it began"):
        runs(desk).open("nightly")


def test_the_run_that_a_colleague_made_under_a_noted_name_is_theirs_for_us_too(desk: Desk) -> None:
    killed_before_its_anchor(desk, ours(desk))
    made = desk.submit(make(desk, theirs(desk), "theirs"), "theirs")
    desk.launch(made, 0)
    run = runs(desk).open("nightly")
    assert (run.plan.id, run.anchor.owner) == (made.plan.id, "bob")
    run.sync()
    assert run.status().tasks == 5
    assert desk.states(made) == {0: "done"}
    run.cancel()
    assert run.status().state == "cancelled"


def test_a_submit_killed_before_the_anchor_is_completed_by_the_same_submit_in_its_own_slots(desk: Desk) -> None:
    killed_before_its_anchor(desk, ours(desk))
    sold_out = "no slots are free"
    again = runs(desk).make(ours(desk), lambda _: None, lambda _: sold_out, again=False)
    assert runs(desk).open("nightly").plan.id == again.plan.id
    assert sum(held("nightly", desk.ledger()).values()) == 2


def test_a_note_that_was_never_made_leaves_its_name_and_slots_to_another_plan(desk: Desk) -> None:
    killed_before_its_anchor(desk, ours(desk))
    seen: list[int] = []

    def free_slots(_: Plan) -> str:
        seen.append(sum(held("nightly", desk.ledger()).values()))
        return ""

    made = runs(desk).make(theirs(desk), lambda _: None, free_slots, again=False)
    assert seen == [0]
    assert runs(desk).open("nightly").plan.id == made.plan.id


def lose_the_race(desk: Desk, winner: Anchor) -> None:
    """Let somebody make this run just before our anchor is written."""

    def overtake(what: str) -> None:
        if what == "put":
            desk.bucket.before = lambda _: None
            make(desk, winner, "theirs")

    desk.bucket.before = overtake


def test_who_loses_the_race_for_a_name_keeps_nothing_of_it(desk: Desk) -> None:
    lose_the_race(desk, theirs(desk))
    with pytest.raises(UsageError, match="run 'nightly' exists with another plan"):
        make(desk, ours(desk))
    assert held("nightly", desk.ledger()) == {}
    assert runs(desk).open("nightly").anchor.owner == "bob"


def test_who_loses_the_race_with_again_keeps_nothing_of_the_name_that_was_lost(desk: Desk) -> None:
    lose_the_race(desk, theirs(desk))
    assert make(desk, ours(desk), again=True).name == "nightly-2"
    assert held("nightly", desk.ledger()) == {}


def test_an_anchor_whose_answer_was_lost_is_ours_and_no_second_run(desk: Desk) -> None:
    put_once = desk.bucket.put_once

    def lost(key: str, body: bytes) -> bool:
        put_once(key, body)
        return False  # as after a lost answer: the second try finds the first one's object

    desk.bucket.put_once = lost
    assert make(desk, ours(desk), again=True).name == "nightly"


def test_a_run_is_remembered_without_asking_the_bucket_again(desk: Desk) -> None:
    desk.submit(make(desk, ours(desk)))

    def down(_: str) -> None:
        raise Unreachable("down")

    desk.bucket.before = down
    assert runs(desk).open("nightly").status().tasks == 3
    assert runs(desk).names() == ["nightly"]


def test_an_empty_database_learns_the_runs_that_there_are(desk: Desk) -> None:
    desk.submit(make(desk, ours(desk)))
    assert runs(desk, "theirs").names() == ["nightly"]


class TestOfSweep:
    def test_a_run_of_the_same_sweep_is_found_from_any_machine_whatever_it_cost(self, desk: Desk) -> None:
        made = plan(usd=1.0)
        desk.submit(make(desk, desk.anchor(made, made.id)))
        dearer = plan(usd=1.1)
        assert dearer.id != made.id
        found = runs(desk, "theirs").of_sweep(dearer.sweep)
        assert found
        assert found.name == made.id

    def test_another_sweep_is_not_under_way(self, desk: Desk) -> None:
        made = plan()
        desk.submit(make(desk, desk.anchor(made, made.id)))
        assert runs(desk, "theirs").of_sweep(make_sweep(runtime=2.0)) is None
        assert runs(desk, "theirs").of_sweep(make_sweep(name="other")) is None

    def test_a_run_that_has_ended_is_not_under_way(self, desk: Desk) -> None:
        made = plan()
        anchor = desk.submit(make(desk, desk.anchor(made, made.id)))
        for task in range(3):
            desk.launch(anchor, task)
        assert runs(desk, "theirs").of_sweep(made.sweep) is None

    def test_a_run_with_a_name_of_its_own_is_found_by_it_and_without_a_name(self, desk: Desk) -> None:
        anchor = desk.submit(make(desk, ours(desk)))
        for name in ("nightly", None):
            found = runs(desk, "theirs").of_sweep(anchor.plan.sweep, name)
            assert found
            assert found.name == "nightly"
        assert runs(desk, "theirs").of_sweep(anchor.plan.sweep, "weekly") is None

    def test_a_run_that_has_ended_is_found_by_its_name_alone(self, desk: Desk) -> None:
        anchor = desk.submit(make(desk, ours(desk)))
        for task in range(3):
            desk.launch(anchor, task)
        found = runs(desk, "theirs").of_sweep(plan(usd=1.1).sweep, "nightly")
        assert found
        assert found.status().finished
        assert runs(desk, "theirs").of_sweep(anchor.plan.sweep) is None

    def test_an_entry_without_a_run_is_passed_over(self, desk: Desk) -> None:
        made = plan()
        desk.submit(make(desk, desk.anchor(made, made.id)))
        del desk.bucket.objects[RunKeys(made.id).anchor]
        assert runs(desk, "theirs").of_sweep(made.sweep) is None

    def test_the_newest_of_several_is_found(self, desk: Desk) -> None:
        plans = [plan(usd=usd) for usd in (1.0, 1.1, 1.2)]
        for age, made in zip((2, 1, 3), plans, strict=True):
            anchor = replace(desk.anchor(made, made.id), created_at=desk.time.now - age)
            desk.submit(make(desk, anchor))
        found = runs(desk, "theirs").of_sweep(plans[0].sweep)
        assert found
        assert found.name == plans[1].id


def test_a_note_holds_its_slots_only_until_its_run_should_have_been_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_before_its_anchor(desk, ours(desk))
    later = time.time() + 2 * lease.NOTED_S
    monkeypatch.setattr(lease.time, "time", lambda: later)
    with pytest.raises(Refused, match="no slots are free"):
        runs(desk).make(ours(desk), lambda _: None, lambda _: "no slots are free", again=False)


def test_two_processes_of_one_database_that_make_the_same_run_make_one(desk: Desk) -> None:
    get = desk.bucket.get

    def look_too_early(key: str) -> object:
        desk.bucket.get = get
        desk.submit(make(desk, ours(desk)))
        raise NotFound("not yet", where=key)

    desk.bucket.get = look_too_early
    again = runs(desk).make(ours(desk), lambda _: None, lambda _: "its own slots are taken", again=False)
    assert again.to_json() == runs(desk).open("nightly").anchor.to_json()


def test_a_look_ahead_finds_or_refuses_what_making_would_and_writes_nothing(desk: Desk) -> None:
    wanted, there, checked = ours(desk), runs(desk), list[str]()

    def look(*, why: str = "", again: bool = False) -> Anchor:
        return there.foresee(wanted, lambda one: checked.append(one.name), lambda _: why, again=again)

    with pytest.raises(Refused, match=f"plan {wanted.plan.id} is stale: gone"):
        look(why="gone")
    assert look() == wanted
    assert checked == 2 * [wanted.name]
    assert desk.ledger("ours").note(wanted.name) is None
    assert not desk.bucket.exists(wanted.keys.anchor)

    killed_before_its_anchor(desk, wanted)
    assert look(why="its slots are its own") == wanted
    make(desk, wanted)
    assert look(why="it is never asked again") == wanted
    assert look(again=True).name == f"{wanted.name}-2"
    other = replace(wanted, plan=replace(wanted.plan, market="another"))
    with pytest.raises(UsageError, match="exists with another plan"):
        there.foresee(other, lambda _: None, lambda _: "", again=False)
