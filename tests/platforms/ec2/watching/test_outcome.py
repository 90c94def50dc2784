"""How an attempt stands, by what EC2 says of its instances and what the machines have said in S3."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.platforms.ec2.watching.left import Launched, Words
from orchestrator.platforms.ec2.watching.machines import Machine
from orchestrator.platforms.ec2.watching.outcome import Standing, stand
from orchestrator.training.bare.telling.outcome import MachineOutcome
from orchestrator.training.bare.together.leave import Verdict
from orchestrator.wire.result import Attempt, Cause, TaskState
from orchestrator.wire.task import Lane, Purchase

NOW = 10_000.0
LAUNCHED = Launched(("i-0",), NOW - 100, "eu-west-1")
SPOT = ("terminated", "Server.SpotInstanceTermination")
BY_ITSELF = ("terminated", "Client.InstanceInitiatedShutdown")
BY_USER = ("terminated", "Client.UserInitiatedShutdown")
RUNNING, PENDING = ("running", ""), ("pending", "")


def attempt(instances: int = 1) -> Attempt:
    lane = Lane("ec2", "eu-west-1", "g5.xlarge", Purchase.SPOT)
    return Attempt(1, 1, 0, lane, "r-1-1", "h", 3600, 0.0, 1.5, instances=instances, output="s3://b/runs/r")


def machine(index: int, told: tuple[str, str], lived_s: float = 90.0) -> Machine:
    state, code = told
    ended = NOW - 100 + lived_s if code else None
    return Machine(f"i-{index}", index, state, "eu-west-1a", NOW - 100, ended, code, "", {}, "g5.xlarge", True, False)


def said(*states: str, cause: str = "", reason: str = "") -> dict[int, MachineOutcome]:
    found = {}
    for index, state in enumerate(states):
        why = {} if state == "done" else {"cause": cause, "reason": reason}
        found[index] = MachineOutcome(index, state, started_at=NOW - 90, ended_at=NOW - 10, **why)
    return found


def words(outcomes: dict[int, MachineOutcome] | None = None, leave: Verdict | None = None, here: int = 1) -> Words:
    return Words(frozenset(range(here)), outcomes or {}, leave)


def standing(machines: list[Machine], told: Words, launched: Launched | None = LAUNCHED, n: int = 1) -> Standing | None:
    return stand(attempt(n), machines, told, launched, NOW)


def test_what_was_never_launched_is_not_there() -> None:
    assert standing([], Words(), None) is None


def test_what_was_just_launched_may_not_be_seen_yet() -> None:
    assert standing([], Words()) == Standing(TaskState.STARTING)


def test_the_script_s_own_error_is_told_whichever_machine_had_it() -> None:
    """The first machine lost the second, whose script had failed, and was the first to say so."""
    lost, own = (
        f'ErrorMessage "{error}" Command "x"' for error in ("RuntimeError: Gloo x failed", "KeyError: 'label'")
    )
    both = {
        0: MachineOutcome(0, "failed", "task", lost, error=lost, ended_at=NOW - 12),
        1: MachineOutcome(1, "left", "task", f"machine 0: {lost}", error=own, ended_at=NOW - 10),
    }
    ended = [machine(0, BY_ITSELF), machine(1, BY_ITSELF)]
    told = words(both, Verdict("task", f"machine 0: {lost}"), here=2)
    assert standing(ended, told, n=2) == Standing(TaskState.FAILED, Cause.TASK, own)


def test_gone_is_not_never_started() -> None:
    """DescribeInstances forgets an instance after an hour: what it has left in S3 stays."""
    assert standing([], words(said("done")), None) == Standing(TaskState.DONE)
    found = standing([], words(), None)
    assert found is not None
    assert (found.state, found.cause) == (TaskState.FAILED, Cause.INTERRUPTED)
    long_ago = Launched(("i-0",), NOW - 4000, "eu-west-1")
    assert standing([], Words(), long_ago) == found


@pytest.mark.parametrize(
    ("machines", "told", "state"),
    [
        ([machine(0, PENDING)], Words(), TaskState.STARTING),
        ([machine(0, RUNNING)], Words(), TaskState.RUNNING),
        ([machine(0, RUNNING)], words(), TaskState.RUNNING),
        ([machine(0, RUNNING)], words(said("done")), TaskState.DONE),
        ([machine(0, BY_ITSELF)], words(said("done")), TaskState.DONE),
        ([machine(0, BY_USER)], words(said("done"), Verdict("stopped", "sweep: late")), TaskState.DONE),
    ],
)
def test_it_stands_as_machines_and_instances_say(machines: list[Machine], told: Words, state: TaskState) -> None:
    found = standing(machines, told)
    assert found is not None
    assert found.state is state


@pytest.mark.parametrize(
    ("gone", "told", "state", "cause"),
    [
        (SPOT, words(), TaskState.FAILED, Cause.INTERRUPTED),
        (("terminated", "Server.InsufficientInstanceCapacity"), Words(), TaskState.FAILED, Cause.CAPACITY),
        (("terminated", "Server.InternalError"), words(), TaskState.FAILED, Cause.INTERRUPTED),
        (("terminated", "Client.InvalidSnapshot.NotFound"), Words(), TaskState.FAILED, Cause.TASK),
        (BY_USER, words(), TaskState.CANCELLED, Cause.STOPPED),
        (BY_USER, words(said("failed", cause="interrupted", reason="SIGTERM")), TaskState.CANCELLED, Cause.STOPPED),
        (BY_ITSELF, Words(), TaskState.FAILED, Cause.TASK),
        (BY_ITSELF, words(said("failed", cause="task", reason="ValueError")), TaskState.FAILED, Cause.TASK),
        (BY_ITSELF, words(said("failed", cause="timeout", reason="too long")), TaskState.FAILED, Cause.TIMEOUT),
        (SPOT, words(said("failed", cause="interrupted", reason="spot notice")), TaskState.FAILED, Cause.INTERRUPTED),
        (BY_USER, words(leave=Verdict("stopped", "sweep: asked")), TaskState.CANCELLED, Cause.STOPPED),
    ],
)
def test_what_is_over_has_a_cause_and_a_reason(
    gone: tuple[str, str], told: Words, state: TaskState, cause: Cause
) -> None:
    found = standing([machine(0, gone)], told)
    assert found is not None
    assert (found.state, found.cause) == (state, cause)
    assert found.reason


def test_an_instance_that_the_watchdog_has_ended_hung() -> None:
    found = standing([machine(0, BY_ITSELF, lived_s=4325.0)], words())
    assert found is not None
    assert (found.cause, found.reason) == (Cause.TIMEOUT, "the watchdog ended i-0: it hung after 3600 s")


def test_when_ec2_does_not_tell_when_an_instance_shut_itself_down_the_watchdog_is_known_by_the_time_since() -> None:
    hung = replace(machine(0, BY_ITSELF), ended_at=None, launched_at=NOW - 4325)
    found = standing([hung], words())
    assert found is not None
    assert found.cause is Cause.TIMEOUT


@pytest.mark.parametrize(
    ("told", "cause", "reason"),
    [
        (words(), Cause.INTERRUPTED, "i-0 shut itself down while it worked, before it could say why"),
        (Words(), Cause.TASK, "i-0 shut itself down before it began, and could not say why"),
    ],
)
def test_the_console_of_an_instance_that_went_without_a_word_is_to_be_read(
    told: Words, cause: Cause, reason: str
) -> None:
    found = standing([replace(machine(0, BY_ITSELF), ended_at=None)], told)
    assert found == Standing(TaskState.FAILED, cause, reason, silent="i-0")


def test_the_console_of_an_instance_that_has_said_why_is_not_read() -> None:
    found = standing([machine(0, BY_ITSELF)], words(said("failed", cause="task", reason="ValueError")))
    assert found is not None
    assert not found.silent


def test_when_one_of_two_is_lost_without_a_word_the_other_is_told() -> None:
    found = standing([machine(0, RUNNING), machine(1, SPOT)], words(here=2), n=2)
    assert found is not None
    assert found.state is TaskState.RUNNING
    assert found.tell is not None
    assert found.tell.cause == "interrupted"


def test_when_one_of_two_has_left_the_attempt_runs_until_the_other_has_too() -> None:
    left = Verdict("interrupted", "machine 1: spot notice")
    gone = said("done", "failed", cause="interrupted", reason="spot notice")
    waiting = standing([machine(0, RUNNING), machine(1, SPOT)], words({1: gone[1]}, left, 2), n=2)
    assert waiting == Standing(TaskState.RUNNING)
    over = standing([machine(0, BY_ITSELF), machine(1, SPOT)], words(gone, left, 2), n=2)
    assert over is not None
    assert (over.state, over.cause, over.reason) == (TaskState.FAILED, Cause.INTERRUPTED, left.reason)
