"""A test suite that holds every platform to the promises of `platforms.base`, to be mixed into a test class.

    class TestSageMaker(Conformance):
        @pytest.fixture
        def subject(self, cloud) -> Subject: ...

The suite needs nothing but a `subject` fixture: how it comes about, on a fake cloud or a real one, is the test's own.
It starts about eight short trainings, and checks that

    request   the same arguments make the same JSON; the name is the computed one; what changes the training changes the
              hash; the tags for the bill are in the body
    start     starting again adopts what runs; a name that belongs to another request is AlreadyExists
    poll      what was never started is None, in another Region too; success, failure and a stop have the right state,
              cause and reason; a success has its times, and costs billable hours * rate * instances
    stop      stopping what never was, or has ended, is no error and changes nothing; what runs ends as STOPPED
    logs      every line is given once; another process sees the same lines; the first instance's log is the whole log
              of a training of one instance; what never was has no lines

It does not check what needs a broken cloud (quotas, capacity, interruptions, time-outs) or several instances.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.errors import AlreadyExists
from orchestrator.platforms.base import Handle
from orchestrator.wire.names import canonical, training_name
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.platforms.base import Platform, Request
    from orchestrator.wire.result import Outcome
    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template


@dataclass(frozen=True)
class Subject:
    """A platform with something to train on, and three tasks that behave as their names say.

    The suite makes further tasks of them, with numbers up to 4 higher: leave these free.
    """

    connect: Callable[[], Platform]
    """Makes a platform object, as another process would make its own."""
    template: Template
    """The template of the place's Region, staged."""
    place: Place
    """The place where all trainings run."""
    elsewhere: Place
    """A place in another Region."""
    succeeds: Task
    """A task whose training writes a line or more into its log, and succeeds."""
    fails: Task
    """A task whose training fails by itself."""
    hangs: Task
    """A task whose training runs until it is stopped."""
    wait: Callable[[], None]
    """Waits a moment; called between two looks at a training."""
    looks: int = 600
    """Looks at a training after which it is given up."""

    def request(self, task: Task, attempt: int = 1, max_runtime_s: int = 3600) -> Request:
        """Return the request of this attempt at the place."""
        return self.connect().request(self.template, task, self.place, attempt, max_runtime_s)

    def handle(self, task: Task, attempt: int = 1) -> Handle:
        """Return the handle of this attempt at the place, whether it was started or not."""
        name = training_name(self.template.run, task.number, attempt)
        return Handle(self.place.lane, name, self.place.rate, task.instances)

    def outcome(self, task: Task, state: TaskState | None = None, attempt: int = 1) -> Outcome:
        """Return the outcome once the training is in this state, or has ended. Raise TimeoutError when it never is."""
        for _ in range(self.looks):
            outcome = self.connect().poll(attempt, self.handle(task, attempt))
            if outcome and (outcome.state.terminal or outcome.state is state):
                return outcome
            self.wait()
        raise TimeoutError(
            f"{self.handle(task, attempt).training} is neither {state} nor ended after {self.looks} looks"
        )


class Conformance:
    """The tests: a platform that passes them all keeps the promises of `platforms.base.Platform`."""

    def test_a_request_is_a_value_that_can_be_printed(self, subject: Subject) -> None:
        one, two = subject.request(subject.succeeds), subject.request(subject.succeeds)
        assert (one, canonical(one.body)) == (two, canonical(two.body))
        assert json.loads(json.dumps(one.body)) == one.body

    def test_a_request_bears_the_name_that_everybody_can_compute(self, subject: Subject) -> None:
        assert subject.request(subject.succeeds, 4).training == subject.handle(subject.succeeds, 4).training

    def test_whatever_makes_another_training_makes_another_hash(self, subject: Subject) -> None:
        task = subject.succeeds
        made = [
            subject.request(task),
            subject.request(task, attempt=2),
            subject.request(task, max_runtime_s=1800),
            subject.request(replace(task, point=task.point | {"another": 1})),
            subject.request(replace(task, instances=task.instances + 1)),
        ]
        assert len({request.hash for request in made}) == len(made)

    def test_a_request_carries_tags_for_the_bill(self, subject: Subject) -> None:
        sent = canonical(subject.request(subject.succeeds, 4).body)
        tags = {
            "sweep:run": subject.template.run,
            "sweep:task": str(subject.succeeds.number),
            "sweep:attempt": "4",
            "sweep:owner": subject.template.owner,
        }
        for name, value in tags.items():
            assert json.dumps(name) in sent
            assert json.dumps(value) in sent

    def test_what_was_never_started_is_not_there_and_can_be_stopped(self, subject: Subject) -> None:
        platform, handle = subject.connect(), subject.handle(subject.succeeds, 99)
        assert platform.poll(99, handle) is None
        platform.stop(handle)
        assert list(platform.logs(handle, {})) == []

    def test_a_training_succeeds_and_tells_what_it_cost(self, subject: Subject) -> None:
        subject.connect().start(subject.request(subject.succeeds))
        outcome, handle = subject.outcome(subject.succeeds), subject.handle(subject.succeeds)
        assert (outcome.number, outcome.training, outcome.lane) == (1, handle.training, handle.lane)
        assert (outcome.state, outcome.cause) == (TaskState.DONE, Cause.NONE)
        assert outcome.started_at is not None
        assert outcome.ended_at is not None
        assert outcome.started_at <= outcome.ended_at
        assert abs(outcome.usd - outcome.billable_s / 3600 * handle.rate * handle.instances) < 1e-9
        subject.connect().stop(handle)
        assert subject.outcome(subject.succeeds).state is TaskState.DONE

    def test_a_training_that_fails_by_itself_says_why(self, subject: Subject) -> None:
        subject.connect().start(subject.request(subject.fails))
        outcome = subject.outcome(subject.fails)
        assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.TASK)
        assert outcome.reason
        assert "\n" not in outcome.reason

    def test_starting_the_same_again_adopts_what_runs(self, subject: Subject) -> None:
        task = replace(subject.hangs, number=subject.hangs.number + 1)
        request = subject.request(task)
        subject.connect().start(request)
        subject.connect().start(request)
        try:
            outcome = subject.outcome(task, TaskState.RUNNING)
            assert outcome.state is TaskState.RUNNING
        finally:
            subject.connect().stop(subject.handle(task))

    def test_a_name_that_belongs_to_another_request_is_not_adopted(self, subject: Subject) -> None:
        task = replace(subject.succeeds, number=subject.succeeds.number + 1)
        subject.connect().start(subject.request(task))
        try:
            subject.connect().start(subject.request(replace(task, point=task.point | {"another": 1})))
        except AlreadyExists as error:
            assert subject.handle(task).training in str(error)  # noqa: PT017  the suite must not need pytest
        else:
            raise AssertionError("the other training was adopted")

    def test_a_stopped_training_ends_as_stopped(self, subject: Subject) -> None:
        subject.connect().start(subject.request(subject.hangs))
        subject.outcome(subject.hangs, TaskState.RUNNING)
        subject.connect().stop(subject.handle(subject.hangs))
        outcome = subject.outcome(subject.hangs)
        assert (outcome.state, outcome.cause) == (TaskState.CANCELLED, Cause.STOPPED)

    def test_another_region_knows_nothing_of_it(self, subject: Subject) -> None:
        task = replace(subject.succeeds, number=subject.succeeds.number + 2)
        subject.connect().start(subject.request(task))
        there = replace(subject.handle(task), lane=subject.elsewhere.lane)
        assert subject.connect().poll(1, there) is None
        assert subject.outcome(task).state is TaskState.DONE

    def test_every_line_of_a_log_is_given_once(self, subject: Subject) -> None:
        task = replace(subject.succeeds, number=subject.succeeds.number + 3)
        subject.connect().start(subject.request(task))
        subject.outcome(task)
        platform, handle, after = subject.connect(), subject.handle(task), dict[str, str]()
        lines = list(platform.logs(handle, after))
        assert lines
        assert list(platform.logs(handle, after)) == []
        assert list(subject.connect().logs(handle, {})) == lines

    def test_the_first_instance_s_log_is_the_whole_log_of_a_training_of_one(self, subject: Subject) -> None:
        task = replace(subject.succeeds, number=subject.succeeds.number + 4)
        subject.connect().start(subject.request(task))
        subject.outcome(task)
        platform, handle = subject.connect(), subject.handle(task)
        assert list(platform.logs(handle, {}, first_instance=True)) == list(platform.logs(handle, {}))
