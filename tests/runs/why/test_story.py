"""The parts of a task's time add up to its total, and what none explains is told."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.aws.jobs.batch_job import Job
from orchestrator.platforms.lives import Step, StepTaken
from orchestrator.runs.why.story import Lived, add_up
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState
from tests.runs.bench import LANES


def attempt(recorded_at: float, number: int = 1) -> Attempt:
    return Attempt(0, number, 0, LANES[0], f"nightly-0-{number}", "hash", 3600, recorded_at, 3.6)


def job(started_at: float | None, stopped_at: float | None = None) -> Job:
    return Job("job:0", "nightly-s1-a1", "RUNNING", created_at=0.0, started_at=started_at, stopped_at=stopped_at)


def steps(*times: tuple[Step, float, float | None]) -> list[StepTaken]:
    return [StepTaken(step, began, ended) for step, began, ended in times]


def test_a_task_that_was_trained_is_told_part_by_part() -> None:
    lived = steps(
        (Step.QUEUE, 112, 115),
        (Step.MACHINES, 115, 200),
        (Step.DOWNLOAD, 200, 260),
        (Step.TRAINING, 260, 860),
        (Step.UPLOAD, 860, 880),
    )
    story = add_up(0.0, job(100, 910), [Lived(attempt(110), lived)], now=2000)
    assert {part.name: part.seconds for part in story.parts} == {
        "waiting for slots": 100,
        "launcher start": 10,
        "refused, or about to start": 2,
        "queue at AWS": 3,
        "machines": 85,
        "download": 60,
        "training": 600,
        "upload": 20,
        "noticed": 30,
    }
    assert (story.total, story.unaccounted) == (910, 0)


def test_a_task_that_waits_has_done_nothing_else() -> None:
    story = add_up(50.0, job(None), [], now=350)
    assert [(part.name, part.seconds) for part in story.parts] == [("waiting for slots", 300)]
    assert (story.total, story.unaccounted) == (300, 0)


def test_what_goes_on_counts_until_now() -> None:
    story = add_up(0.0, job(10), [Lived(attempt(20), steps((Step.TRAINING, 30, None)))], now=100)
    assert [part.seconds for part in story.parts if part.name == "training"] == [70]
    assert story.unaccounted == 0


def test_what_nobody_explains_is_unaccounted() -> None:
    story = add_up(0.0, job(10, stopped_at=500), [Lived(attempt(20), [])], now=900)
    assert story.total == 500
    assert story.unaccounted == 480


def refused(attempt: Attempt, ended_at: float) -> Outcome:
    failed = (TaskState.FAILED, Cause.CAPACITY)
    return Outcome(attempt.number, attempt.lane, attempt.training, *failed, requested_at=20, ended_at=ended_at)


def test_a_start_that_is_put_off_until_it_is_refused_is_noticed_only_from_then_on() -> None:
    first = attempt(20)
    lived = [
        Lived(first, [], refused(first, ended_at=400)),
        Lived(attempt(415, 2), steps((Step.TRAINING, 420, 500))),
    ]
    story = add_up(0.0, job(10, stopped_at=503), lived, now=900)
    assert {part.name: part.seconds for part in story.parts} == {
        "waiting for slots": 10,
        "launcher start": 10,
        "refused, or about to start": 380 + 5,
        "noticed": 15 + 3,
        "training": 80,
    }
    assert story.unaccounted == 0


def test_a_start_that_is_still_put_off_is_told_so() -> None:
    waits = Outcome(1, LANES[0], "nightly-0-1", TaskState.STARTING, requested_at=20)
    story = add_up(0.0, job(10), [Lived(attempt(20), [], waits)], now=320)
    assert story.parts[-1].name == "refused, or about to start"
    assert (story.parts[-1].seconds, story.unaccounted) == (300, 0)


def test_an_attempt_that_ran_where_nobody_remembers_it_is_unaccounted_until_its_end() -> None:
    first = attempt(20)
    ran = Outcome(1, LANES[0], "nightly-0-1", TaskState.DONE, started_at=30.0, ended_at=130.0)
    story = add_up(0.0, job(10, stopped_at=140), [Lived(first, [], ran)], now=900)
    assert (story.parts[-1].name, story.parts[-1].seconds, story.unaccounted) == ("noticed", 10, 110)


TIMES = st.floats(0, 1e6)


@given(times=st.lists(TIMES, min_size=4, max_size=24), ended=st.booleans())
def test_the_parts_and_what_is_unaccounted_are_the_total_whatever_happened(times: list[float], ended: bool) -> None:
    began, started, *rest = sorted(times)
    taken = []
    for number, at in enumerate(range(0, len(rest) - 1, 4), start=1):
        recorded, *marks = rest[at : at + 4]
        lived = [StepTaken(Step.TRAINING, first, last) for first, last in pairwise(marks)]
        taken.append(Lived(attempt(recorded, number), lived))
    now = rest[-1]
    story = add_up(began, job(started, now if ended else None), taken, now)
    assert sum(part.seconds for part in story.parts) + story.unaccounted == pytest.approx(story.total)
    assert all(part.seconds >= 0 for part in story.parts)
    assert story.unaccounted >= -1e-6
