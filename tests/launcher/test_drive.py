from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from orchestrator.errors import (
    AccessDenied,
    AlreadyExists,
    CloudError,
    InvalidRequest,
    NoCapacity,
    NotFound,
    QuotaExceeded,
    SweepError,
    Throttled,
    Unreachable,
)
from orchestrator.launcher import drive
from orchestrator.platforms.registry import make_runner
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Attempt, Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Limits
from tests.launcher.fakes import DONE, PLACES, RUNNING, Bench, Life, failed

CAPACITY = Life(looks=[failed(Cause.CAPACITY)])
ENDLESS = Life(looks=[RUNNING])


def test_a_task_is_recorded_then_started_watched_and_done() -> None:
    bench = Bench(Life(looks=[RUNNING, RUNNING, DONE]))
    assert bench.launch() is Exit.DONE
    assert bench.attempts == ["1 in us-west-2"]
    assert bench.platform.created == ["nightly-7-1 in us-west-2"]
    assert (bench.result.state, bench.result.attempt, bench.result.usd) == (TaskState.DONE, 1, 1.8)


def test_the_attempt_is_recorded_before_the_training_is_started() -> None:
    bench = Bench()
    seen: list[list[str]] = []
    bench.platform.before = lambda what: seen.append(bench.attempts) if what == "start" else None
    bench.launch()
    assert seen == [["1 in us-west-2"]]


def test_data_that_lies_in_another_region_is_never_read() -> None:
    bench = Bench()
    bench.control.s3.regions["data-us-west-2"] = "eu-west-1"  # type: ignore[attr-defined]
    assert bench.launch() is Exit.TASK_WRONG
    assert bench.platform.start_calls == bench.attempts == []
    assert bench.result.reason == (
        "its data would be read from eu-west-1: the bucket data-us-west-2 does not lie in us-west-2 "
        "(mend the replica in the catalog, then plan again)"
    )


@pytest.mark.parametrize("error", [AccessDenied("no"), InvalidRequest("no such name"), NotFound("no such bucket")])
def test_a_bucket_of_which_nothing_is_said_is_left_to_the_platform(error: SweepError) -> None:
    bench = Bench()
    bench.control.s3.regions["data-us-west-2"] = error  # type: ignore[attr-defined]
    assert bench.launch() is Exit.DONE


def test_a_bucket_is_asked_after_once() -> None:
    bench = Bench(CAPACITY, CAPACITY)
    assert bench.launch() is Exit.DONE
    assert bench.control.s3.regions_asked == ["data-us-west-2"]  # type: ignore[attr-defined]


def test_a_restart_of_a_launcher_that_was_done_ends_at_once() -> None:
    bench = Bench()
    bench.launch()
    bench.platform.before = lambda what: pytest.fail(what)
    assert bench.launch() is Exit.DONE


def test_a_restarted_launcher_adopts_the_training_that_runs() -> None:
    bench = Bench(Life(looks=[RUNNING, RUNNING, RUNNING, DONE]))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    assert bench.launch() is Exit.RESTART
    assert bench.platform.alive == ["nightly-7-1"]
    bench.time.on_sleep, bench.time.term = lambda: None, False
    assert bench.launch() is Exit.DONE
    assert bench.platform.created == ["nightly-7-1 in us-west-2"]
    assert bench.attempts == ["1 in us-west-2"]


def test_an_attempt_recorded_but_never_started_is_started_with_the_same_name() -> None:
    bench = Bench()

    def killed(what: str) -> None:
        if what == "start":
            raise KeyboardInterrupt

    bench.platform.before = killed
    with pytest.raises(KeyboardInterrupt):
        bench.launch()
    bench.platform.before = lambda _: None
    assert bench.launch() is Exit.DONE
    assert bench.attempts == ["1 in us-west-2"]
    assert bench.platform.start_calls == ["nightly-7-1"]


def test_a_failure_of_the_task_is_tried_again_as_often_as_it_may() -> None:
    failure = Life(looks=[failed(Cause.TASK)])
    bench = Bench(failure, failure, failure, limits=Limits(3600, retries=1))
    assert bench.launch() is Exit.TASK_WRONG
    assert bench.attempts == ["1 in us-west-2", "2 in us-west-2"]
    assert bench.result.state is TaskState.FAILED
    assert [one.cause for one in bench.result.outcomes] == [Cause.TASK, Cause.TASK]


def test_a_task_that_ran_out_of_time_is_not_tried_again() -> None:
    bench = Bench(Life(looks=[failed(Cause.TIMEOUT)]), limits=Limits(3600, retries=5))
    assert bench.launch() is Exit.TASK_WRONG
    assert bench.attempts == ["1 in us-west-2"]


def test_missing_capacity_is_waited_for_with_patience_and_then_the_next_place_is_tried() -> None:
    bench = Bench(*[CAPACITY] * 5, limits=Limits(3600, patience_s=300))
    assert bench.launch() is Exit.DONE
    regions = [attempt.split()[-1] for attempt in bench.attempts]
    assert regions[0] == "us-west-2"
    assert regions == sorted(regions, key=[place.lane.region for place in PLACES].index)
    assert "eu-west-1" in regions


def test_without_capacity_anywhere_the_task_fails_and_says_so() -> None:
    bench = Bench(*[CAPACITY] * 3, limits=Limits(3600, patience_s=0))
    assert bench.launch() is Exit.UNAVAILABLE
    assert bench.attempts == ["1 in us-west-2", "2 in eu-west-1", "3 in us-east-1"]
    assert bench.result.reason == "no capacity at any of its 3 places: capacity"


def test_a_refusal_of_capacity_at_the_start_counts_like_one_after_it() -> None:
    bench = Bench(Life(refusals=[NoCapacity("none")]), limits=Limits(3600, patience_s=0))
    assert bench.launch() is Exit.DONE
    assert bench.platform.created == ["nightly-7-2 in eu-west-1"]


def test_patience_counts_from_the_first_refusal_also_after_a_restart() -> None:
    bench = Bench(*[CAPACITY] * 50, limits=Limits(3600, patience_s=400))
    first = bench.time.now
    bench.time.on_sleep = lambda: setattr(bench.time, "term", bench.time.now - first > 200)
    assert bench.launch() is Exit.RESTART
    bench.time.on_sleep, bench.time.term = lambda: None, False
    bench.time.now = first + 400
    bench.launch()
    recorded = bench.control.attempts(7)
    assert all(one.recorded_at <= first + 400 for one in recorded if one.place == 0)


def test_an_interrupted_training_is_tried_again_at_the_same_place_without_costing_a_retry() -> None:
    bench = Bench(Life(looks=[failed(Cause.INTERRUPTED)]), Life(looks=[failed(Cause.INTERRUPTED)]))
    assert bench.launch() is Exit.DONE
    assert bench.attempts == ["1 in us-west-2", "2 in us-west-2", "3 in us-west-2"]


@pytest.mark.parametrize("error", [QuotaExceeded("0 of 0"), Throttled("Rate exceeded"), Unreachable("down")])
def test_a_refusal_that_passes_is_waited_out_within_the_same_attempt(error: CloudError) -> None:
    bench = Bench(Life(refusals=[error] * 4))
    assert bench.launch() is Exit.DONE
    assert bench.attempts == ["1 in us-west-2"]
    assert bench.platform.start_calls == ["nightly-7-1"] * 5
    assert bench.time.slept[:4] == [60, 120, 240, 480]


def test_the_result_tells_what_the_task_waits_for() -> None:
    bench = Bench(Life(refusals=[QuotaExceeded("limit is 0")]))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    assert bench.launch() is Exit.RESTART
    assert (bench.result.state, bench.result.attempt) == (TaskState.STARTING, 1)
    assert bench.result.reason == "waits for quota: limit is 0"


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (AccessDenied("not authorized"), Exit.UNAVAILABLE),
        (AlreadyExists("the name belongs to another training"), Exit.UNAVAILABLE),
        (InvalidRequest("no such image"), Exit.TASK_WRONG),
    ],
)
def test_a_refusal_that_will_not_pass_fails_the_task_with_its_reason(error: SweepError, exit_code: Exit) -> None:
    bench = Bench(Life(refusals=[error]), limits=Limits(3600, retries=3))
    assert bench.launch() is exit_code
    assert (bench.result.state, bench.result.reason) == (TaskState.FAILED, str(error))
    assert bench.attempts == ["1 in us-west-2"]
    assert bench.launch() is exit_code


@pytest.mark.parametrize("refusal", [AccessDenied("the token expired"), InvalidRequest("the data are gone")])
def test_a_final_refusal_after_a_start_whose_answer_was_lost_does_not_disown_what_runs(refusal: SweepError) -> None:
    bench = Bench(Life(looks=[RUNNING, DONE]))
    start, answers = bench.platform.start, iter([Unreachable("read time-out"), refusal])

    def lost(request: object) -> None:
        start(request)  # type: ignore[arg-type]
        raise next(answers)

    bench.platform.start = lost  # type: ignore[method-assign]
    assert bench.launch() is Exit.DONE
    assert bench.attempts == ["1 in us-west-2"]


def test_who_may_not_look_at_a_training_leaves_it_running_and_says_why() -> None:
    bench = Bench(ENDLESS)

    def denied(what: str) -> None:
        if what == "poll":
            raise AccessDenied("no sagemaker:DescribeTrainingJob")

    bench.platform.before = denied
    assert bench.launch() is Exit.UNAVAILABLE
    assert bench.platform.alive == ["nightly-7-1"]
    assert not bench.result.state.terminal
    assert "DescribeTrainingJob" in bench.result.reason


def test_a_region_that_cannot_be_reached_is_no_proof_that_a_training_ended() -> None:
    bench = Bench(Life(looks=[RUNNING, DONE]))
    answers = iter([None, *[Unreachable("down")] * 20])

    def down(what: str) -> None:
        if what == "poll" and (error := next(answers, None)):
            raise error

    bench.platform.before = down
    assert bench.launch() is Exit.DONE
    assert bench.attempts == ["1 in us-west-2"]


def test_a_cancelled_run_starts_nothing() -> None:
    bench = Bench()
    bench.control.cancel(through=1)
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.start_calls == []
    assert bench.result.state is TaskState.CANCELLED


def test_a_cancel_that_comes_during_the_start_stops_the_training() -> None:
    bench = Bench(ENDLESS)
    bench.platform.before = lambda what: bench.control.cancel(through=1) if what == "start" else None
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.created == ["nightly-7-1 in us-west-2"]
    assert bench.platform.alive == []


def test_a_cancel_is_seen_while_watching_even_without_a_signal() -> None:
    bench = Bench(ENDLESS)
    bench.time.on_sleep = lambda: bench.control.cancel(through=1) if len(bench.time.slept) == 3 else None
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.alive == []
    assert bench.result.outcomes[-1].cause is Cause.STOPPED


def test_a_cancel_after_a_start_whose_answer_was_lost_stops_what_was_started() -> None:
    bench = Bench(ENDLESS)
    start = bench.platform.start

    def lost(request: object) -> None:
        start(request)  # type: ignore[arg-type]
        bench.control.cancel(through=1)
        raise Unreachable("read time-out")

    bench.platform.start = lost  # type: ignore[method-assign]
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.alive == []


def test_sigterm_with_the_marker_stops_the_training_at_once() -> None:
    bench = Bench(ENDLESS)

    def terminate() -> None:
        bench.control.cancel(through=1)
        bench.time.term = True

    bench.time.on_sleep = terminate
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.trainings["us-west-2", "nightly-7-1"].stopped
    assert bench.result.state is TaskState.CANCELLED


def test_sigterm_while_aws_cannot_be_reached_makes_way_for_the_next_launcher() -> None:
    bench = Bench()

    def down(_: str) -> None:
        raise Unreachable("down")

    bench.control.s3.before = down  # type: ignore[attr-defined]
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    assert bench.launch() is Exit.RESTART


def test_a_training_stopped_by_hand_is_not_started_again() -> None:
    bench = Bench(ENDLESS)
    bench.time.on_sleep = lambda: [bench.platform.stop(a) for a in bench.control.attempts(7)]  # type: ignore[assignment,return-value]
    assert bench.launch() is Exit.CANCELLED
    assert bench.attempts == ["1 in us-west-2"]


def test_the_envelope_bounds_every_attempt_by_what_is_left() -> None:
    # $3.60 an hour: $3.60 pay for an hour, of which 180 s are kept back; half of it is spent by the first attempt.
    bench = Bench(Life(looks=[failed(Cause.TASK)]), limits=Limits(86_400, retries=1, envelope=3.6))
    bench.launch()
    assert [one.max_runtime_s for one in bench.control.attempts(7)] == [3600 - 180, 1800 - 180]


def test_a_place_that_the_rest_cannot_pay_for_is_passed_over() -> None:
    cheap = replace(PLACES[1], rate=0.36)
    bench = Bench(limits=Limits(3600, envelope=0.2), places=(PLACES[0], cheap))
    bench.launch()
    assert bench.attempts == ["1 in eu-west-1"]


def test_a_spent_envelope_ends_the_task() -> None:
    bench = Bench(Life(looks=[failed(Cause.INTERRUPTED)]), limits=Limits(3600, envelope=1.9))
    assert bench.launch() is Exit.UNAVAILABLE
    assert bench.result.reason.startswith("$1.80 of its $1.90 are spent")


def _earlier(bench: Bench, state: TaskState, usd: float = 1.8) -> None:
    """Record an attempt 1 of submission 1 that ended so."""
    lane = PLACES[0].lane
    bench.control.record(Attempt(7, 1, 0, lane, "nightly-7-1", "h", 3600, 1.0, PLACES[0].rate))
    outcome = Outcome(1, lane, "nightly-7-1", state, Cause.TASK if state is TaskState.FAILED else Cause.NONE, usd=usd)
    bench.control.write_result(Result(7, "key", state, "", (outcome,)))


@pytest.mark.parametrize("state", [TaskState.DONE, TaskState.FAILED])
def test_a_retry_counts_on_and_forgets_nothing_it_cost(state: TaskState) -> None:
    bench = Bench(submission=2, after=1, limits=Limits(86_400, envelope=5.4))
    _earlier(bench, state)
    assert bench.launch() is Exit.DONE
    assert bench.attempts == ["1 in us-west-2", "2 in us-west-2"]
    assert bench.control.attempts(7)[1].max_runtime_s == 3600 - 180
    assert [one.number for one in bench.result.outcomes] == [1, 2]


def test_a_retry_waits_until_the_training_before_it_has_really_ended() -> None:
    bench = Bench(Life(looks=[RUNNING] * 3 + [failed(Cause.TASK)]))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    bench.launch()
    bench.time.on_sleep, bench.time.term = lambda: None, False
    bench.submission, bench.task = 2, replace(bench.task, after=1)
    alive: list[list[str]] = []
    bench.platform.before = lambda what: alive.append(bench.platform.alive) if what == "start" else None
    assert bench.launch() is Exit.DONE
    assert alive == [[]]


def test_a_launcher_of_an_earlier_submission_makes_way() -> None:
    bench = Bench(submission=1)
    bench.control.write_result(Result(7, "key", TaskState.RUNNING, submission=2))
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.start_calls == []


def test_another_request_under_a_recorded_attempt_is_refused() -> None:
    bench = Bench()
    bench.control.record(Attempt(7, 1, 0, PLACES[0].lane, "nightly-7-1", "other", 3600, 1.0, PLACES[0].rate))
    assert bench.launch() is Exit.UNAVAILABLE
    assert "another request than this launcher would send" in bench.result.reason
    assert bench.platform.start_calls == []


def test_a_missing_template_is_said_in_the_result() -> None:
    bench = Bench()
    bench.control.s3.objects.clear()  # type: ignore[attr-defined]
    assert bench.launch() is Exit.UNAVAILABLE
    assert "templates/fake-us-west-2.json" in bench.result.reason


def test_an_attempt_carries_all_that_a_bill_needs_though_its_place_is_gone_from_the_plan() -> None:
    place = replace(PLACES[0], site="us-west-2a", instances=2)
    bench = Bench(Life(looks=[RUNNING, failed(Cause.TASK)]), places=(place,))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    bench.launch()
    [attempt] = bench.control.attempts(7)
    assert (attempt.rate, attempt.site, attempt.instances) == (3.6, "us-west-2a", 2)
    bench.time.on_sleep, bench.time.term = lambda: None, False
    bench.submission, bench.task = 2, replace(bench.task, places=(PLACES[1],), after=1)
    assert bench.launch() is Exit.DONE
    first = bench.result.outcomes[0]
    assert (first.usd, first.instances) == (0.5 * 3.6 * 2, 2)


def test_the_recorded_request_is_made_of_the_place_with_the_same_site_and_instances() -> None:
    one, two = PLACES[0], replace(PLACES[0], site="us-west-2b", s3_uri="s3://other/")
    bench = Bench(places=(one, two), limits=Limits(3600, patience_s=0))
    bench.platform.lives = [CAPACITY, Life(refusals=[Throttled("slow down")])]
    assert bench.launch() is Exit.DONE
    assert [attempt.site for attempt in bench.control.attempts(7)] == ["", "us-west-2b"]
    assert bench.platform.trainings["us-west-2", "nightly-7-2"].request.body["data"] == "s3://other/"


def _make_newer(bench: Bench, key: str) -> None:
    """Rewrite an object of the bucket as a newer sweep would have."""
    objects = bench.control.s3.objects  # type: ignore[attr-defined]
    body = json.loads(objects[key].body) | {"version": 2}
    objects[key] = replace(objects[key], body=json.dumps(body).encode())


def test_a_template_of_a_newer_sweep_is_left_to_a_newer_launcher() -> None:
    bench = Bench()
    _make_newer(bench, bench.control.keys.template("fake", "us-west-2"))
    assert bench.launch() is Exit.UNAVAILABLE
    assert bench.result.reason == (
        "s3://control/runs/nightly/templates/fake-us-west-2.json: this template has version 2, and this sweep reads "
        "versions up to 1 (use the sweep that wrote it, or a newer one)"
    )
    assert not bench.result.state.terminal
    assert bench.platform.start_calls == []


def test_an_attempt_of_a_newer_launcher_is_left_to_it() -> None:
    bench = Bench(Life(looks=[RUNNING] * 3 + [DONE]))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    bench.launch()
    bench.time.on_sleep, bench.time.term = lambda: None, False
    _make_newer(bench, bench.control.keys.attempt(7, 1))
    assert bench.launch() is Exit.UNAVAILABLE
    assert not bench.result.state.terminal
    assert bench.platform.alive == ["nightly-7-1"]


def test_a_platform_that_the_launchers_image_lacks_is_said_in_the_result() -> None:
    bench = Bench()
    driver = bench.driver()
    driver.trainings.runners = partial(make_runner, clients=None)  # type: ignore[arg-type]
    assert driver.drive() is Exit.UNAVAILABLE
    assert bench.result.reason.startswith("no platform 'fake' is installed (")


def test_results_are_written_at_every_change_and_only_then() -> None:
    bench = Bench(Life(looks=[RUNNING] * 10 + [DONE]))
    bench.launch()
    writes = bench.control.s3.writes  # type: ignore[attr-defined]
    assert writes == len(PLACES) + 1 + 2 * 3  # templates; the attempt; starting, running, done, and their news


def test_waiting_has_a_ceiling() -> None:
    bench = Bench(Life(refusals=[Throttled("slow down")] * 40))
    bench.launch()
    assert max(bench.time.slept) == 30 * 20


def test_the_log_has_one_line_an_event(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", drive.log.name)
    Bench().launch()
    assert [record.getMessage() for record in caplog.records] == [
        "task 7 attempt 1: nightly-7-1 started as fake/us-west-2/ml.g5.xlarge/spot",
        "task 7 attempt 1: nightly-7-1 done after 1800 s.",
        "task 7: done. ",
    ]


def test_a_failed_training_s_own_words_are_the_reason() -> None:
    bench = Bench(Life(looks=[failed(Cause.TASK)]))
    bench.platform.written["nightly-7-1"] = ["epoch 1", "train.py: error: unrecognized arguments: --lr"]
    bench.launch()
    assert bench.result.reason.startswith("train.py: error: unrecognized arguments: --lr (")


def test_when_the_platform_was_asked_is_noted_where_it_does_not_say_so_itself() -> None:
    bench = Bench(Life(refusals=[NoCapacity("none")]), limits=Limits(3600, patience_s=0))
    bench.launch()
    refused, done = bench.result.outcomes
    asked = [attempt.recorded_at for attempt in bench.control.attempts(7)]
    assert [refused.requested_at, done.requested_at] == asked
    assert refused.ended_at is not None
