"""A run whose first tasks all end alike by themselves starts no more: good money is not thrown after bad."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.control import Control
from orchestrator.errors import NoCapacity, Unreachable
from orchestrator.wire.exits import Exit
from orchestrator.wire.reasons import alike
from orchestrator.wire.result import Cause, Result, TaskState
from orchestrator.wire.task import Limits
from tests.launcher.fakes import DONE, PLACES, RUN, RUNNING, Bench, Bucket, FakeRunner, Life, failed

if TYPE_CHECKING:
    from orchestrator.wire.result import Attempt, Outcome

FAILED = failed(Cause.TASK)
NO_COLUMN = "ValueError: no column 'label' in part 17"


class Saying(FakeRunner):
    """A runner whose trainings say why they fail."""

    def __init__(self, *lives: Life, why: str = NO_COLUMN) -> None:
        super().__init__(*lives)
        self.why = why

    def poll(self, attempt: Attempt) -> Outcome | None:
        outcome = super().poll(attempt)
        return replace(outcome, reason=self.why) if outcome and outcome.state is TaskState.FAILED else outcome


class Team:
    """The launchers of one run, which share its bucket."""

    def __init__(self, after: int = 3) -> None:
        self.control = Bench().control
        self.bucket: Bucket = self.control.s3  # type: ignore[assignment]
        for place in PLACES:
            template = replace(self.control.template("fake", place.lane.region), pause_after=after)
            key = self.control.keys.template("fake", place.lane.region)
            body = json.dumps(template.to_json()).encode()
            self.bucket.put_if(key, body, self.bucket.get(key).etag)

    def bench(self, number: int, *lives: Life, submission: int = 1, why: str = NO_COLUMN, **changes: Any) -> Bench:
        """Return a task that meets these lives, else fails by itself."""
        bench = Bench(submission=submission, number=number, **changes)
        bench.control = Control(self.control.s3, RUN)
        bench.platform = Saying(*(lives or [Life(looks=[FAILED])]), why=why)
        return bench

    def run(self, number: int, *lives: Life, submission: int = 1, why: str = NO_COLUMN, **changes: Any) -> Exit:
        return self.bench(number, *lives, submission=submission, why=why, **changes).launch()

    def result(self, number: int) -> Result:
        found = self.control.result(number)
        assert found
        return found[0]

    @property
    def reasons(self) -> dict[int, str]:
        return self.control.pause_marker().reasons


def test_after_as_many_tasks_as_are_named_no_more_are_started() -> None:
    team = Team(after=3)
    assert [team.run(number, why=f"ValueError: no column in part {number}") for number in range(3)] == [65, 65, 65]
    assert team.reasons == {1: "paused: the first 3 tasks to fail did so alike: ValueError: no column in part 0"}
    late = team.bench(3, Life(looks=[DONE]))
    assert late.launch() is Exit.CANCELLED
    assert late.platform.start_calls == []
    assert late.attempts == []
    assert (late.result.state, late.result.reason) == (TaskState.CANCELLED, team.reasons[1])
    assert late.launch() is Exit.CANCELLED  # as Batch might start it once more


def test_a_long_reason_is_told_by_its_beginning_and_its_end() -> None:
    team = Team(after=1)
    team.run(
        0, why="AlgorithmError: exit code 1\n" + "at a line\n" * 200 + 'ValueError: no column Command "python train.py"'
    )
    (reason,) = team.reasons.values()
    assert reason.startswith("paused: the first task to end has failed: AlgorithmError: exit code 1 at a line")
    assert reason.endswith("at a line ValueError: no column")
    assert len(reason) < 500


def test_one_less_stops_nothing() -> None:
    team = Team(after=3)
    for number in range(2):
        team.run(number)
    assert team.reasons == {}
    assert team.run(2, Life(looks=[DONE])) is Exit.DONE


def test_it_is_off_where_nobody_has_asked_for_it() -> None:
    team = Team(after=0)
    for number in range(9):
        assert team.run(number) is Exit.TASK_WRONG
    assert team.reasons == {}


@pytest.mark.parametrize("place", range(5))
def test_nothing_is_stopped_where_one_task_is_done(place: int) -> None:
    team = Team(after=3)
    for number in range(5):
        team.run(number, *([Life(looks=[DONE])] if number == min(place, 2) else []))
    assert team.reasons == {}


def test_nothing_is_stopped_where_one_task_is_done_and_nobody_was_told_of_it() -> None:
    """Its launcher was killed between the result and the news."""
    team = Team(after=3)
    team.run(0, Life(looks=[DONE]))
    for item in list(team.bucket.list(team.control.keys.news)):
        team.bucket.delete(item.key)
    for number in range(1, 6):
        team.run(number)
    assert team.reasons == {}


def test_nothing_is_stopped_where_a_result_cannot_be_understood() -> None:
    team = Team(after=2)
    team.bucket.put_once(team.control.keys.result(900), b"{")
    for number in range(4):
        team.run(number)
    assert team.reasons == {}


def test_tasks_that_end_for_different_reasons_stop_nothing() -> None:
    team = Team(after=3)
    for number, why in enumerate(["ValueError: a", "KeyError: b", "ValueError: a", "ValueError: a", "ValueError: a"]):
        team.run(number, why=why)
    assert team.reasons == {}


@pytest.mark.parametrize("cause", [Cause.TIMEOUT, Cause.CAPACITY, Cause.INTERRUPTED, Cause.STOPPED])
def test_tasks_that_have_not_failed_by_themselves_do_not_count(cause: Cause) -> None:
    team = Team(after=3)
    for number in range(4):
        state = TaskState.CANCELLED if cause is Cause.STOPPED else TaskState.FAILED
        team.run(number, *[Life(looks=[(state, cause)])] * 99, limits=Limits(3600, patience_s=0))
    assert team.reasons == {}
    for number in range(4, 7):
        team.run(number)
    assert list(team.reasons) == [1]


def test_what_has_begun_goes_on() -> None:
    team = Team(after=2)
    running = team.bench(7, Life(looks=[RUNNING, RUNNING, failed(Cause.INTERRUPTED)]), Life(looks=[DONE]))

    def pause_meanwhile() -> None:
        if len(running.time.slept) == 1:
            team.run(0)
            team.run(1)
            assert team.reasons

    running.time.on_sleep = pause_meanwhile
    assert running.launch() is Exit.DONE
    assert running.attempts == ["1 in us-west-2", "2 in us-west-2"]


def test_a_task_that_was_only_refused_so_far_has_not_begun() -> None:
    team = Team(after=2)
    refused = team.bench(7, *[Life(refusals=[NoCapacity("no machines")])] * 5)

    def pause_meanwhile() -> None:
        if not team.reasons:
            team.run(0)
            team.run(1)

    refused.time.on_sleep = pause_meanwhile
    assert refused.launch() is Exit.CANCELLED
    assert refused.platform.created == []
    assert refused.result.reason.startswith("paused: ")


def test_a_retry_is_a_new_start_and_may_pause_again() -> None:
    team = Team(after=2)
    team.run(0)
    team.run(1)
    assert team.run(2) is Exit.CANCELLED
    assert team.run(2, submission=2) is Exit.TASK_WRONG
    assert list(team.reasons) == [1]
    assert team.run(0, Life(), Life(looks=[FAILED]), submission=2, after=1) is Exit.TASK_WRONG
    assert list(team.reasons) == [1, 2]
    assert team.run(3, submission=1) is Exit.CANCELLED  # held up for long, it is still paused
    assert team.run(3, Life(looks=[DONE]), submission=3) is Exit.DONE


def test_what_an_earlier_submission_has_done_is_a_success_too() -> None:
    team = Team(after=2)
    team.run(0, Life(looks=[DONE]))
    for number in range(1, 5):
        team.run(number, submission=2)
    assert team.reasons == {}


def test_the_first_who_pauses_says_why_and_a_second_one_changes_nothing() -> None:
    team = Team(after=2)
    team.control.pause(1, "paused: first")
    before = team.bucket.get(team.control.keys.pause)
    team.control.pause(1, "paused: second")
    assert team.bucket.get(team.control.keys.pause).etag == before.etag
    assert team.reasons == {1: "paused: first"}


def test_two_that_pause_at_once_leave_one_reason() -> None:
    team = Team(after=2)
    other = Control(team.control.s3, RUN)

    def overtake(operation: str) -> None:
        if operation == "put":
            team.bucket.before = lambda _: None
            other.pause(1, "paused: by the other")

    team.bucket.before = overtake
    team.control.pause(1, "paused: by us")
    assert team.reasons == {1: "paused: by the other"}


def test_a_launcher_that_cannot_look_ends_its_task_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    team = Team(after=1)
    bench = team.bench(0)
    before_last = team.bucket.list

    def unreachable_news(prefix: str, after: str = "") -> object:
        if prefix == team.control.keys.news:
            raise Unreachable("no connection")
        return before_last(prefix, after)

    monkeypatch.setattr(team.bucket, "list", unreachable_news)
    assert bench.launch() is Exit.TASK_WRONG
    assert (bench.result.state, bench.result.reason) == (TaskState.FAILED, NO_COLUMN)
    assert team.reasons == {}


def toolkit(error: str, options: str) -> str:
    """The reason that AWS's toolkit gives."""
    said = f'ErrorMessage "raise ValueError(f\\"x={{x}}\\") {error}"'
    return (
        f'AlgorithmError: ExecuteUserScriptError: ExitCode 1 {said} Command "/usr/bin/python {options}", exit code: 1'
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("no line 7 in part 1e-05", "no line 12 in part 0.5", True),
        ("no file /tmp/3f2a9c/x (exit code 1)", "no file /tmp/77b01e/x (exit code 1)", True),
        ("CUDA out of memory. Tried to allocate 2.50 GiB", "CUDA out of memory. Tried to allocate 512.00 GiB", True),
        (toolkit("ValueError: x=1", "train.py --opt adam"), toolkit("ValueError: x=2", "train.py --opt sgd"), True),
        (toolkit("ValueError: x=1", "train.py"), toolkit("KeyError: label", "train.py"), False),
        (
            toolkit("ValueError: x=1", "train.py --opt adam"),
            toolkit("ValueError: x=1", "train.py --opt 'sgd")[:180],
            True,
        ),
        ("KeyError: 'label'", "KeyError: 'weight'", False),
        ("ValueError: a", "KeyError: a", False),
        ("", "", True),
        ("", "Killed", False),
    ],
)
def test_reasons_are_alike_that_differ_in_numbers_and_in_the_command_line(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same


WRONG_OPTION = "train.py: error: argument --secs: invalid float value: 'bad'"


@pytest.mark.parametrize(
    ("sagemaker", "elsewhere"),
    [
        (
            f'{WRONG_OPTION} (AlgorithmError: ExecuteUserScriptError: ExitCode 2 ErrorMessage "", exit code: 2)',
            f'ExecuteUserScriptError: ExitCode 2 ErrorMessage "{WRONG_OPTION}"',
        ),
        (
            toolkit("ValueError: x=1", "train.py"),
            'ExecuteUserScriptError: ExitCode 1 ErrorMessage "ValueError: x=1"',
        ),
    ],
)
def test_one_fault_is_alike_on_all_platforms(sagemaker: str, elsewhere: str) -> None:
    """On EC2 and EKS, a training of several machines names the one that failed."""
    assert alike(sagemaker, elsewhere)
    assert alike(f"machine 1: {elsewhere}", sagemaker)
    assert not alike(sagemaker, elsewhere.replace("bad", "worse").replace("ValueError", "KeyError"))
