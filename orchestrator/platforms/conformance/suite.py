"""A test suite that holds every platform to the promises of `platforms.base`, to be mixed into a test class.

    class TestSageMaker(Conformance):
        @pytest.fixture
        def subject(self, cloud) -> Subject: ...

The suite needs nothing but a `subject` fixture: how it comes about, on a fake cloud or a real one, is the test's own.
It starts about twenty short trainings, each from a real sweep, and checks that

    plan      planning has one answer for each lane and for the sweep; it refuses neither the sweep nor the place
    stage     the same staging makes the same template, with all that is shared in it
    request   the same arguments make the same JSON; the name is the computed one; what changes the training changes the
              hash; the tags for the bill are in the body
    sites     a lane's parts have names, each told once, and a request of its own asks each
    start     starting again, or twice at once, adopts what runs; a name that belongs to another request is
              AlreadyExists; a training outlives the process that has started it
    poll      what was never started is None, in another Region too; success, failure, a time-out and a stop have the
              right state, cause and reason; a success has its times and its bill, which is within its rate
    stop      stopping what never was, or has ended, is no error and changes nothing; what runs ends as STOPPED
    logs      every line is given once; a process that knows only what is stored sees the same lines; the first
              instance's log is rank 0's; what never was has no lines
    ended     what is named has ended
    operating an account is told what it needs in plain values; what runs is alive, and what has ended is not

It does not check what needs a broken cloud: quotas, capacity, interruptions.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from orchestrator.errors import AlreadyExists
from orchestrator.platforms.conformance.operating import OperatingConformance
from orchestrator.platforms.conformance.sites import SitesConformance
from orchestrator.platforms.conformance.subject import TRAINING, Subject
from orchestrator.wire.names import canonical, training_name
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Lane, Purchase
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from orchestrator.wire.result import Attempt, Outcome

__all__ = ["TRAINING", "Conformance", "Subject"]

TYPES = ("", "nothing", "x.large", "ml.", "ml.g5.xlarge", "ml.p5.48xlarge", "c5.xlarge", "pool/4 gpus", "ünknown")
"""Instance types that a catalog's file may name, most of which a platform does not have."""


class Conformance(OperatingConformance, SitesConformance):
    """The tests: a platform that passes them all keeps the promises of `platforms.base`."""

    # Planning

    def test_whatever_a_lane_is_planning_has_one_answer(self, subject: Subject) -> None:
        planning, own = subject.planning, subject.place.lane
        for name, purchase in product((own.instance_type, *TYPES), Purchase):
            lane = Lane(own.platform, own.region, name, purchase)
            assert isinstance(planning.refuses(lane), str)
            assert planning.refuses(lane) == planning.refuses(lane)
            for site in ("", "here"):
                uses = dict(planning.uses(lane, site))
                assert uses == dict(planning.uses(lane, site))
                assert all(isinstance(name, str) and units > 0 for name, units in uses.items())
        for name in (own.instance_type, *TYPES):
            spot = Lane(own.platform, own.region, name, Purchase.SPOT)
            proxy = planning.proxy(spot)
            assert proxy == planning.proxy(spot)
            assert proxy is None or proxy.platform in planning.proxies

    def test_what_types_are_made_of_is_told_by_their_names(self, subject: Subject) -> None:
        for name, shape in subject.planning.shapes.items():
            assert name
            assert shape.vcpus > 0
            assert shape.memory_gib > 0

    def test_what_a_lane_refuses_is_one_line(self, subject: Subject) -> None:
        assert subject.planning.refuses(subject.place.lane) == ""
        lanes = [replace(subject.place.lane, instance_type=name) for name in TYPES]
        assert not any("\n" in subject.planning.refuses(lane) for lane in lanes)

    def test_a_sweep_that_can_run_is_not_complained_of(self, subject: Subject) -> None:
        planning, sweep = subject.planning, subject.staging.sweep
        assert list(planning.check(sweep)) == []
        assert planning.cautions(sweep) == planning.cautions(sweep)
        assert all(isinstance(line, str) and "\n" not in line for line in planning.cautions(sweep))

    def test_a_template_holds_what_the_tasks_of_a_region_share(self, subject: Subject) -> None:
        staging, template = subject.staging, subject.template
        assert template.platform == subject.place.lane.platform
        shared = (template.region, template.run, template.owner, template.output, template.poll_s)
        assert shared == (staging.region, staging.run, staging.owner, staging.output, staging.poll_s)
        train = staging.sweep.train
        assert (template.metrics, template.checkpoints) == (dict(train.metrics), train.checkpoints is not None)
        assert template.tags == dict(staging.sweep.tags)
        assert Template.from_json(json.loads(json.dumps(template.to_json()))) == template
        assert subject.planning.stage(staging, subject.clients) == template

    def test_a_template_tells_where_checkpoints_lie(self, subject: Subject) -> None:
        plain = subject.staging.sweep
        train = type(plain.train).model_validate({**plain.train.model_dump(), "checkpoints": {"every": "10m"}})
        sweep = plain.model_copy(update={"train": train})
        if list(subject.planning.check(sweep)):
            return  # a platform that keeps none
        template = subject.planning.stage(replace(subject.staging, sweep=sweep), subject.clients)
        request = subject.connect().request(template, subject.task(10), subject.place, 1, 600)
        assert template.checkpoints_of(10) in canonical(request.body)

    # Requests

    def test_a_request_is_a_value_that_can_be_printed(self, subject: Subject) -> None:
        one, two = subject.request(subject.task(10)), subject.request(subject.task(10))
        assert (one, canonical(one.body)) == (two, canonical(two.body))
        assert json.loads(json.dumps(one.body)) == one.body

    def test_a_request_bears_the_name_that_everybody_can_compute(self, subject: Subject) -> None:
        assert subject.request(subject.task(10), number=4).training == training_name(subject.template.run, 10, 4)

    def test_whatever_makes_another_training_makes_another_hash(self, subject: Subject) -> None:
        task = subject.task(10)
        made = [
            subject.request(task),
            subject.request(task, number=2),
            subject.request(task, max_runtime_s=1800),
            subject.request(replace(task, point=task.point | {"another": 1})),
            subject.request(task, replace(subject.place, s3_uri=f"{subject.place.s3_uri}more/")),
            *([subject.request(task, subject.pair)] if subject.pair else []),
        ]
        assert len({request.hash for request in made}) == len(made)

    def test_a_request_carries_tags_for_the_bill(self, subject: Subject) -> None:
        sent = canonical(subject.request(subject.task(10), number=4).body)
        template = subject.template
        ours = {"sweep:run": template.run, "sweep:task": "10", "sweep:attempt": "4", "sweep:owner": template.owner}
        tags = {**ours, **template.tags}
        for name, value in tags.items():
            assert json.dumps(name) in sent
            assert json.dumps(value) in sent

    # Starting

    def test_starting_the_same_again_adopts_what_runs(self, subject: Subject) -> None:
        task = subject.task(11, "hang")
        attempt = subject.start(task)
        try:
            subject.send(subject.request(task))
            assert subject.outcome(attempt, TaskState.RUNNING).state is TaskState.RUNNING
        finally:
            subject.connect().stop(attempt)

    def test_two_starts_at_once_make_one_training(self, subject: Subject) -> None:
        task = subject.task(12)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(subject.send, [subject.request(task)] * 2))
        attempt = subject.attempt(task)
        assert subject.outcome(attempt).state is TaskState.DONE
        assert _times(subject, attempt, "rank 0 begins") == 1

    def test_a_name_that_belongs_to_another_request_is_not_adopted(self, subject: Subject) -> None:
        task = subject.task(13)
        attempt = subject.start(task)
        try:
            subject.connect().start(subject.request(replace(task, point=task.point | {"another": 1})))
        except AlreadyExists as error:
            assert attempt.training in str(error)  # noqa: PT017  the suite must not need pytest
        else:
            raise AssertionError("the other training was adopted")

    def test_a_training_outlives_the_process_that_has_started_it(self, subject: Subject) -> None:
        task = subject.task(14, "hang")
        attempt = subject.attempt(task)
        subject.send_and_die(subject.request(task))
        try:
            assert subject.outcome(attempt, TaskState.RUNNING).state is TaskState.RUNNING
        finally:
            subject.connect().stop(attempt)
        assert subject.outcome(attempt).cause is Cause.STOPPED

    # How trainings end, and what they cost

    def test_a_training_succeeds_and_tells_what_it_cost(self, subject: Subject) -> None:
        attempt = subject.start(subject.task(15))
        outcome = subject.outcome(attempt)
        assert (outcome.number, outcome.training, outcome.lane) == (1, attempt.training, attempt.lane)
        assert (outcome.state, outcome.cause, outcome.instances) == (TaskState.DONE, Cause.NONE, 1)
        assert outcome.started_at is not None
        assert outcome.ended_at is not None
        assert outcome.started_at <= outcome.ended_at
        assert_bill_is_within_its_rate(attempt, outcome)
        subject.connect().stop(attempt)
        assert subject.outcome(attempt).state is TaskState.DONE

    def test_a_spot_training_costs_no_more_than_its_rate_allows(self, subject: Subject) -> None:
        if subject.spot is None:
            return
        attempt = subject.start(subject.task(16), subject.spot)
        outcome = subject.outcome(attempt)
        assert (outcome.state, outcome.lane.purchase) == (TaskState.DONE, Purchase.SPOT)
        assert_bill_is_within_its_rate(attempt, outcome)

    def test_a_parameter_of_one_letter_is_an_option_with_one_dash(self, subject: Subject) -> None:
        task = replace(subject.task(27), point={"then": "tell", "n": 7})
        attempt = subject.start(task)
        assert subject.outcome(attempt).state is TaskState.DONE
        assert "n is 7" in [line for _, line in subject.log(attempt)]

    def test_a_training_that_fails_by_itself_says_why(self, subject: Subject) -> None:
        outcome = subject.outcome(subject.start(subject.task(17, "fail")))
        assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.TASK)
        assert outcome.reason
        assert "\n" not in outcome.reason

    def test_a_training_that_takes_too_long_is_ended(self, subject: Subject) -> None:
        attempt = subject.start(subject.task(18, "hang"), max_runtime_s=subject.short_s)
        outcome = subject.outcome(attempt)
        assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.TIMEOUT)
        assert outcome.reason
        assert_bill_is_within_its_rate(attempt, outcome)

    def test_a_stopped_training_ends_as_stopped(self, subject: Subject) -> None:
        attempt = subject.start(subject.task(19, "hang"))
        subject.outcome(attempt, TaskState.RUNNING)
        subject.connect().stop(attempt)
        outcome = subject.outcome(attempt)
        assert (outcome.state, outcome.cause) == (TaskState.CANCELLED, Cause.STOPPED)

    def test_what_was_never_started_is_not_there_and_can_be_stopped(self, subject: Subject) -> None:
        runner, attempt = subject.connect(), subject.attempt(subject.task(10), number=99)
        assert runner.poll(attempt) is None
        runner.stop(attempt)
        assert list(runner.logs(attempt, subject.template, {})) == []

    def test_another_region_knows_nothing_of_it(self, subject: Subject) -> None:
        attempt = subject.start(subject.task(20))
        assert subject.connect().poll(replace(attempt, lane=subject.elsewhere.lane)) is None
        assert subject.outcome(attempt).state is TaskState.DONE

    def test_only_what_has_ended_is_said_to_have_ended(self, subject: Subject) -> None:
        done, running = subject.start(subject.task(21)), subject.start(subject.task(22, "hang"))
        try:
            subject.outcome(done)
            subject.outcome(running, TaskState.RUNNING)
            runner = subject.connect()
            names = frozenset[str]().union(*runner.ended(subject.place.lane.region, subject.template.run, 0.0))
            assert running.training not in names
            assert all(name.startswith(f"{subject.template.run}-") for name in names)
        finally:
            subject.connect().stop(running)

    # Logs

    def test_every_line_of_a_log_is_given_once(self, subject: Subject) -> None:
        attempt = subject.start(subject.task(23))
        subject.outcome(attempt)
        runner, after = subject.connect(), dict[str, str]()
        lines = list(runner.logs(attempt, subject.template, after))
        assert any("rank 0 ends" in line for _, line in lines)
        assert list(runner.logs(attempt, subject.template, after)) == []
        assert subject.log(attempt) == lines

    def test_a_process_that_knows_only_what_is_stored_reads_the_same_log(self, subject: Subject) -> None:
        attempt = subject.start(subject.task(24))
        subject.outcome(attempt)
        assert subject.log_elsewhere(attempt) == subject.log(attempt) != []

    def test_the_first_instance_s_log_is_the_whole_log_of_a_training_of_one(self, subject: Subject) -> None:
        attempt = subject.start(subject.task(25))
        subject.outcome(attempt)
        assert subject.log(attempt, first_instance=True) == subject.log(attempt)

    def test_the_first_of_two_instances_is_the_one_where_rank_0_is(self, subject: Subject) -> None:
        if subject.pair is None:
            return
        attempt = subject.start(subject.task(26), subject.pair)
        outcome = subject.outcome(attempt)
        assert (outcome.state, outcome.instances) == (TaskState.DONE, 2)
        assert_bill_is_within_its_rate(attempt, outcome)
        first = [line for _, line in subject.log(attempt, first_instance=True)]
        assert any("rank 0 begins" in line for line in first)
        assert not any("rank 1 begins" in line for line in first)
        assert _times(subject, attempt, "rank 1 begins") == 1


def assert_bill_is_within_its_rate(attempt: Attempt, outcome: Outcome) -> None:
    """Raise AssertionError if a training costs more than its attempt has said that it can."""
    most = outcome.billable_s / 3600 * attempt.rate * attempt.instances
    rounded = most * (1 + 1e-9)
    assert 0 <= outcome.usd <= rounded, f"{attempt.training} costs ${outcome.usd}, and ${most} at the most"


def _times(subject: Subject, attempt: Attempt, text: str) -> int:
    """Return how many lines of the training's log hold a text."""
    return sum(text in line for _, line in subject.log(attempt))
