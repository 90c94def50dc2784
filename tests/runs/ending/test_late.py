"""A start that arrives long after its launcher died: its training is seen, counted, stopped and never doubled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Throttled
from orchestrator.runs.known import sync as syncing
from tests.launcher.fakes import DONE, RUNNING, Life
from tests.runs.bench import plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.platforms.base import Request
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk


@pytest.fixture
def anchor(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Anchor:
    """A run of one task, whose launcher was killed in the middle of its start, and which is written down as failed."""
    monkeypatch.setattr(syncing.time, "time", lambda: desk.time.now)
    desk.platform.lives = [Life(looks=[RUNNING] * 9)]
    desk.time.now = 2_000_000_000.0
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    driver = desk.launcher(anchor, 0)
    driver._load()
    driver._take_step()  # the attempt is recorded; its start is under way
    desk.batch.jobs[0].statuses[0] = "FAILED"
    desk.sync(anchor)
    assert desk.states(anchor) == {0: "failed"}
    assert desk.platform.trainings == {}
    return anchor


@pytest.fixture
def arrive(desk: Desk, anchor: Anchor) -> Callable[[], None]:
    """Let the start arrive that its launcher had sent."""

    def arrive() -> None:
        driver = desk.launcher(anchor, 0, desk.batch.jobs[0])
        desk.batch.jobs[0].statuses[0] = "FAILED"
        request: Request = driver.trainings.recorded_request(desk.cloud().control(anchor.name).attempt(0, 1))
        desk.platform.start(request)

    return arrive


def later(desk: Desk, anchor: Anchor) -> dict[int, str]:
    desk.time.now += 1000
    desk.sync(anchor)
    return desk.states(anchor)


def test_a_training_that_never_began_stays_failed(desk: Desk, anchor: Anchor) -> None:
    assert later(desk, anchor) == {0: "failed"}


def test_one_that_runs_is_running_again_and_its_end_is_written_down(
    desk: Desk, anchor: Anchor, arrive: Callable[[], None]
) -> None:
    arrive()
    assert later(desk, anchor) == {0: "running"}
    (training,) = desk.platform.trainings.values()
    training.looks = [DONE]
    assert later(desk, anchor) == {0: "done"}
    assert desk.ledger().usd(anchor.name) == pytest.approx(1.8)


def test_one_that_has_ended_meanwhile_is_done(desk: Desk, anchor: Anchor, arrive: Callable[[], None]) -> None:
    arrive()
    (training,) = desk.platform.trainings.values()
    training.looks = [DONE]
    assert later(desk, anchor) == {0: "done"}


def test_it_is_looked_for_once_after_the_end_and_not_for_ever(
    desk: Desk, anchor: Anchor, arrive: Callable[[], None]
) -> None:
    for _ in range(2):  # when all tasks have ended, and once later
        assert later(desk, anchor) == {0: "failed"}
    arrive()
    assert later(desk, anchor) == {0: "failed"}  # `sweep reap` finds it


def test_a_cancel_stops_it(desk: Desk, anchor: Anchor, arrive: Callable[[], None]) -> None:
    arrive()
    desk.cancel(anchor)
    assert desk.platform.alive == []
    assert desk.states(anchor) == {0: "cancelled"}


def test_a_retry_that_was_made_before_it_came_follows_it_and_starts_no_other(
    desk: Desk, anchor: Anchor, arrive: Callable[[], None]
) -> None:
    desk.retry(anchor)
    arrive()
    (training,) = desk.platform.trainings.values()
    training.looks = [RUNNING, DONE]
    desk.launch(anchor, 0)
    assert len(desk.platform.created) == 1
    assert later(desk, anchor) == {0: "done"}


def test_one_that_cannot_be_asked_for_is_left_to_the_next_time(
    desk: Desk, anchor: Anchor, arrive: Callable[[], None]
) -> None:
    arrive()

    def refuse(what: str) -> None:
        if what == "poll":
            raise Throttled("slow down")

    desk.platform.before = refuse
    assert later(desk, anchor) == {0: "failed"}
