"""A launcher looks at its training now and then, and soon when the board of its Region names it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import AccessDenied, Unreachable
from orchestrator.launcher.watching.lookout import PAGES, Lookout
from orchestrator.launcher.watching.pace import STALE_S, Pace
from orchestrator.wire.beside.board import Board
from orchestrator.wire.result import Attempt
from tests.launcher.fakes import PLACES, FakeRunner, Time, control

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.errors import SweepError

REGION = PLACES[0].lane.region
FEW, MANY = Pace(10, 30), Pace(2_000, 30)


def attempt(task: int) -> Attempt:
    return Attempt(task, 1, 0, PLACES[0].lane, f"nightly-{task}-1", "", 3600, 0.0, 1.0)


class Lister(FakeRunner):
    """A platform that lists what a test says has ended, a page a call."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[frozenset[str]] = [frozenset()]
        self.since: list[float] = []
        self.calls = 0
        self.refusal: SweepError | None = None

    def ended(self, region: str, run: str, since: float) -> Iterator[frozenset[str]]:
        assert (region, run) == (REGION, "nightly")
        self.since.append(since)
        for page in self.pages:
            self.calls += 1
            if self.refusal:
                raise self.refusal
            yield page


class Crowd:
    """Launchers of one Region, whose waits a test takes one after the other."""

    def __init__(self, pace: Pace = MANY) -> None:
        self.time = Time()
        self.pace = pace
        self.control = control({})
        self.bucket: Any = self.control.s3
        self.bucket.clock = lambda: self.time.now
        self.platform = Lister()

    def lookout(self, chance: float = 0.5) -> Lookout:
        world = self.time.world(uniform=lambda low, high: low + (high - low) * chance)
        return Lookout(self.control, lambda _: self.platform, world, lambda _: self.pace)  # type: ignore[arg-type,return-value]

    def board(self) -> Board:
        seen = self.control.board("fake", REGION)
        return seen.board if seen else Board()

    def wait(self, lookout: Lookout, task: int) -> float:
        """Wait for a look, and return the seconds that it took."""
        began = self.time.now
        lookout.wait(attempt(task))
        return self.time.now - began

    def play(self, seconds: float, *lookouts: Lookout) -> list[int]:
        """Let launchers of tasks 0, 1, ... wait side by side for so long, and return which of them looked, in order."""
        end, looks = self.time.now + seconds, []
        turns = dict.fromkeys(range(len(lookouts)), self.time.now)
        while min(turns.values()) < end:
            task = min(turns, key=lambda task: (turns[task], task))
            self.time.now = max(self.time.now, turns[task])
            pause = lookouts[task].step(attempt(task))
            if pause == 0:
                looks.append(task)
            turns[task] = self.time.now + (pause or 0.001)
        self.time.now = end
        return looks


def test_where_few_run_at_once_each_is_looked_at_in_turn_and_there_is_no_board() -> None:
    crowd = Crowd(FEW)
    assert [crowd.wait(crowd.lookout(), 0) for _ in range(3)] == [30.0, 30.0, 30.0]
    assert crowd.bucket.list("runs/nightly/boards/") is not None
    assert list(crowd.bucket.list("runs/nightly/boards/")) == []


def test_one_launcher_takes_the_board_and_lists_for_all() -> None:
    crowd = Crowd()
    lookouts = [crowd.lookout(0.1), crowd.lookout(0.9)]
    crowd.play(100, *lookouts)
    assert [one.holds_board for one in lookouts] == [True, False]
    assert crowd.board().holder == "nightly-0-1"
    assert 3 <= crowd.platform.calls <= 6


def test_whoever_the_board_names_is_looked_at_soon_and_once() -> None:
    crowd = Crowd()
    lookouts = [crowd.lookout(0.1), crowd.lookout(0.5), crowd.lookout(0.9)]
    crowd.play(310, *lookouts)  # the first looks at what was just started are over
    crowd.platform.pages = [frozenset({"nightly-1-1", "nightly-9-1"})]
    assert crowd.play(60, *lookouts) == [1]
    assert crowd.play(200, *lookouts) == []


def test_the_first_look_comes_soon_after_a_start_and_the_next_much_later() -> None:
    crowd = Crowd()
    lookout = crowd.lookout()
    assert crowd.wait(lookout, 0) == pytest.approx(8 * 30, abs=1)
    assert crowd.wait(lookout, 0) == pytest.approx(1_000, abs=1)


def test_a_board_whose_holder_was_killed_is_taken_by_another() -> None:
    crowd = Crowd()
    holder, other = crowd.lookout(0.1), crowd.lookout(0.9)
    crowd.play(50, holder, other)
    crowd.play(STALE_S + 3 * MANY.board_s, crowd.lookout(0.99), other)
    assert crowd.board().holder == "nightly-1-1"


def test_a_holder_that_goes_leaves_the_board_to_the_next_at_once() -> None:
    crowd = Crowd()
    holder, other = crowd.lookout(0.1), crowd.lookout(0.9)
    crowd.play(50, holder, other)
    holder.leave()
    assert crowd.board().holder == ""
    crowd.play(2 * MANY.board_s, crowd.lookout(0.99), other)
    assert crowd.board().holder == "nightly-1-1"


def test_a_holder_that_was_asleep_gives_way_to_who_has_taken_over() -> None:
    crowd = Crowd()
    holder, other = crowd.lookout(0.1), crowd.lookout(0.9)
    crowd.play(50, holder, other)
    written = crowd.control.board("fake", REGION)
    assert written
    crowd.control.write_board("fake", REGION, Board("nightly-5-1"), written.etag)
    crowd.play(50, holder, other)
    assert not holder.holds_board
    assert crowd.board().holder == "nightly-5-1"


def test_the_next_listing_goes_back_to_before_the_last_one_began() -> None:
    crowd = Crowd()
    began = crowd.time.now
    crowd.play(200, crowd.lookout(0.1))
    first, *others = crowd.platform.since
    assert first <= began - 300
    assert others[0] <= began
    assert all(0 <= later - earlier <= 30 for earlier, later in pairwise(others))
    assert others[-1] >= began + 100


def test_a_listing_takes_a_call_a_second_and_ends() -> None:
    crowd = Crowd()
    crowd.platform.pages = [frozenset({f"nightly-{page}-1"}) for page in range(10, 40)]
    crowd.play(35, crowd.lookout(0.1))
    assert crowd.platform.calls == PAGES
    assert len(crowd.board().ended) == PAGES


@pytest.mark.parametrize("refusal", [AccessDenied("no"), Unreachable("gone")])
def test_without_a_listing_every_training_is_looked_at_in_turn(refusal: SweepError) -> None:
    crowd = Crowd()
    crowd.platform.refusal = refusal
    lookout = crowd.lookout()
    crowd.wait(lookout, 0)
    assert crowd.wait(lookout, 0) == pytest.approx(400, abs=30)


def test_a_board_that_cannot_be_understood_does_no_harm() -> None:
    crowd = Crowd()
    crowd.bucket.put_once(crowd.control.keys.board("fake", REGION), b"{")
    lookout = crowd.lookout()
    crowd.wait(lookout, 0)
    assert crowd.wait(lookout, 0) == pytest.approx(400, abs=30)


def test_when_a_board_is_lost_all_look_again_in_turn_and_not_at_once() -> None:
    crowd = Crowd()
    holder = crowd.lookout(0.01)
    others = [crowd.lookout(0.1 + 0.8 * number / 40) for number in range(40)]
    crowd.play(900, holder, *others)
    crowd.platform.refusal = AccessDenied("no")
    looks = [len(crowd.play(20, crowd.lookout(0.99), *others)) for _ in range(10)]
    assert max(looks) <= 20


def test_a_sigterm_ends_the_wait() -> None:
    crowd = Crowd(FEW)
    crowd.time.on_sleep = lambda: setattr(crowd.time, "term", True)
    assert crowd.wait(crowd.lookout(), 0) == 30.0


def test_names_leave_the_board_when_all_have_read_them() -> None:
    crowd = Crowd()
    crowd.platform.pages = [frozenset({"nightly-9-1"})]
    lookout = crowd.lookout(0.1)
    crowd.play(60, lookout)
    assert "nightly-9-1" in crowd.board().ended
    crowd.platform.pages = [frozenset()]
    crowd.play(400, lookout)
    assert crowd.board().ended == {}


def test_logs_are_read_more_rarely_than_trainings_are_looked_at() -> None:
    crowd = Crowd(FEW)
    lookout = crowd.lookout()
    reads = []
    for _ in range(6):
        crowd.wait(lookout, 0)
        reads.append(lookout.reads_logs(attempt(0)))
    assert reads == [True, False, True, False, True, False]
