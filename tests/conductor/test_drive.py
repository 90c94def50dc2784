"""A conductor is killed at every line, and two are at the same work: what is there is always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import greenlet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.conductor.drive import GIVE_UP_S, drive
from orchestrator.conductor.notes import Notes
from orchestrator.conductor.step import Action, Done, End, Note
from orchestrator.errors import Refused, Throttled, Unreachable
from tests.conductor.errands import ERRANDS, GOAL, INSTANCE, Errands, Killed, World

if TYPE_CHECKING:
    from collections.abc import Sequence

WELL = End(0, "all errands are done")
NOTED = [f"conductor/{GOAL}/{INSTANCE}/{name}" for name in (
    "alive.json", "end.json", *(f"notes/{k}{rest}.json" for k in (1, 2, 3) for rest in (".done", "")), "notes/4.json"
)]  # fmt: skip


def run(world: World) -> End:
    return drive(Errands(world), world.notes(), world)


def test_each_errand_is_noted_before_it_is_done_and_the_end_after_all() -> None:
    world = World()
    seen: list[int] = []
    world.before = lambda what: seen.append(len(world.bucket.objects)) if what.startswith("act ") else None
    assert run(world) == WELL
    assert world.calls == list(ERRANDS)
    assert seen == [2, 4, 6]  # the note and the word that somebody is alive; then the same, with what was done before
    assert sorted(world.bucket.objects) == sorted(NOTED)


def boundaries() -> int:
    """Times at which something is put, read, done or waited for when nothing goes wrong."""
    count = 0

    def step(_: str) -> None:
        nonlocal count
        count += 1

    world = World()
    world.before = world.bucket.before = step
    run(world)
    return count


@pytest.mark.parametrize("every", [1, 2, 3])
def test_killed_at_every_line_it_makes_the_same_once(every: int) -> None:
    """The k-th conductor dies at its k-th step, its 2k-th, or its 3k-th: before or after what it did there."""
    total = boundaries()
    assert total > 20
    for first in range(1, total + 1):
        world = World()
        left = first

        def die(_: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        world.before = world.bucket.before = die
        for life in range(1, total * total):
            try:
                assert run(world) == WELL
            except Killed:
                left = first + every * life
                continue
            break
        assert world.did == {kind: f"{kind}-1" for kind in ERRANDS}
        assert sorted(world.bucket.objects) == sorted(NOTED)


@given(turns=st.lists(st.integers(0, 2), max_size=120), deaths=st.sets(st.integers(0, 120), max_size=6))
def test_three_conductors_at_once_with_deaths_do_what_one_does(turns: list[int], deaths: set[int]) -> None:
    world = World()
    hub = greenlet.getcurrent()
    world.before = world.bucket.before = lambda _: hub.switch()
    ends: list[End] = []

    def live() -> None:
        ends.append(run(world))

    lives = [greenlet.greenlet(live) for _ in range(3)]
    for number, turn in enumerate([*turns, *[0, 1, 2] * 200]):
        if number in deaths:
            with pytest.raises(Killed):
                lives[turn].throw(Killed) if not lives[turn].dead else (_ for _ in ()).throw(Killed)
            lives[turn] = greenlet.greenlet(live)
        elif not lives[turn].dead:
            lives[turn].switch()
        if all(life.dead for life in lives):
            break
    assert ends
    assert set(ends) == {WELL}
    assert world.did == {kind: f"{kind}-1" for kind in ERRANDS}
    assert sorted(world.bucket.objects) == sorted(NOTED)
    assert [note.action.about["after"] for note in world.notes().read()[:3]] == [
        [],
        ["pick-1"],
        ["pick-1", "send-1"],
    ]


class Faulty(Errands):
    """Sending meets these errors first, one at each try."""

    def __init__(self, world: World, *errors: Exception) -> None:
        super().__init__(world)
        self.errors = list(errors)

    def act(self, action: Action) -> dict[str, Any]:
        if action.kind == "send" and self.errors:
            raise self.errors.pop(0)
        return super().act(action)


def test_what_passes_is_waited_out_and_leaves_no_trace() -> None:
    world = World()
    faulty = Faulty(world, Throttled("slow down"), Unreachable("no answer"))
    assert drive(faulty, world.notes(), world) == WELL
    assert world.calls == list(ERRANDS)


def test_what_does_not_pass_is_noted_and_the_strategy_decides() -> None:
    world = World()
    assert drive(Faulty(world, Refused("the month's budget is spent")), world.notes(), world) == End(
        6, "the month's budget is spent"
    )
    assert world.calls == ["pick"]


def test_what_should_pass_and_does_not_for_an_hour_is_an_error() -> None:
    world = World()
    errors = [Unreachable("no answer", where="eu-west-1")] * 1000
    assert drive(Faulty(world, *errors), world.notes(), world) == End(1, "eu-west-1: no answer")
    assert GIVE_UP_S <= world.moment - 1000 < 2 * GIVE_UP_S


def test_a_look_that_fails_for_long_ends_the_process_and_nothing_is_noted() -> None:
    class Blind(Errands):
        def look(self, notes: Sequence[Note]) -> bool:  # noqa: ARG002
            raise Unreachable("no answer")

    world = World()
    with pytest.raises(Unreachable):
        drive(Blind(world), world.notes(), world)
    assert world.bucket.objects == {}
    assert run(world) == WELL


def test_who_waits_says_so() -> None:
    world = World()
    words = []
    notes = world.notes()
    world.before = lambda what: words.append(notes.alive()) if what == "sleep" else None
    drive(Errands(world), notes, world)
    assert {alive.why for alive in words if alive} == {"what was sent still runs"}
    assert len(words) == 4  # 200 seconds, a minute at a time


def test_a_note_of_a_stranger_in_the_folder_is_left_alone() -> None:
    world = World()
    world.bucket.put_once(f"conductor/{GOAL}/{INSTANCE}/notes/README.txt", b"mine")
    assert run(world) == WELL


def test_the_first_end_of_an_action_is_what_counts() -> None:
    world = World()
    notes = world.notes()
    notes.begin(1, Action("pick"), 5.0)
    assert notes.finish(1, Done({"made": "mine"}))
    assert not Notes(notes.s3, GOAL, INSTANCE).finish(1, Done({"made": "theirs"}))
    assert notes.read() == (Note(1, Action("pick"), 5.0, Done({"made": "mine"})),)
