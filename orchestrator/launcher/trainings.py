"""The trainings of one task on their platforms: how they are requested, started, looked at and stopped."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, AlreadyExists, InvalidRequest, NotFound, Throttled, Unreachable
from orchestrator.launcher.sites import choose_site
from orchestrator.launcher.watching.last_words import explain_failure
from orchestrator.launcher.watching.pace import Pace
from orchestrator.launcher.watching.watchdog import Watchdog
from orchestrator.platforms.sites import OffersSites
from orchestrator.wire.names import S3Uri
from orchestrator.wire.result import Attempt, Cause, TaskState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.aws.control import Control
    from orchestrator.errors import SweepError
    from orchestrator.launcher.decide import Start
    from orchestrator.launcher.moving.saved import Ahead
    from orchestrator.launcher.task_history import TaskHistory
    from orchestrator.launcher.tried import Tried
    from orchestrator.launcher.world import World
    from orchestrator.platforms.base import Request, Runner
    from orchestrator.wire.result import Outcome
    from orchestrator.wire.task import Lane, Place, Task
    from orchestrator.wire.template import Template

log = logging.getLogger(__name__)

USUAL_POLL_S = 30.0
"""Seconds between two tries of anything, until a template says otherwise."""
LOG_ARRIVES_S = 10.0
"""Seconds after a training's end in which its last lines may still be on their way to where its log is read."""
LOG_PATIENCE_S = 300.0
"""Seconds for which the end of a finished training's log is sought while it cannot be read. Then it ends without."""


class Trainings:
    """All that is asked of platforms for one task. It remembers the templates that it has read, and nothing else."""

    def __init__(self, task: Task, control: Control, runners: Callable[[str], Runner], world: World) -> None:
        self.task = task
        self.control = control
        self.runners = runners
        self.siblings = world.siblings
        self.world = world
        self.watchdog = Watchdog(task.limits, world.now)
        self.poll_s = USUAL_POLL_S
        self._templates: dict[tuple[str, str], Template] = {}
        self._told: set[str] = set()
        self._bucket_regions: dict[str, str] = {}
        self._unread_since: dict[str, float] = {}
        """Since when the end of a finished training's log could not be read."""
        self._sites: dict[int, tuple[str, ...]] = {}

    def template(self, lane: Lane) -> Template:
        """Return what all tasks share in a lane's Region. From now on, its poll interval is ours."""
        key = (lane.platform, lane.region)
        if key not in self._templates:
            self._templates[key] = self.control.template(*key)
        self.poll_s = self._templates[key].poll_s
        return self._templates[key]

    def pace(self, lane: Lane) -> Pace:
        """Return the pace at which trainings of a lane's Region are looked at.

        If nobody has said how many may run there at once, these are all of our siblings.
        """
        template = self.template(lane)
        return Pace(template.at_once or self.siblings, template.poll_s)

    def runner(self, lane: Lane) -> Runner:
        return self.runners(lane.platform)

    def request(self, place: Place, number: int, max_runtime_s: int, max_wait_s: int) -> Request:
        task = self.task
        if max_wait_s:
            task = replace(task, limits=replace(task.limits, max_wait_s=max_wait_s))
        return self.runner(place.lane).request(self.template(place.lane), task, place, number, max_runtime_s)

    def at_a_site(self, step: Start, tried: Sequence[Tried]) -> Start:
        """Return a start with the site of its place that is asked now, such as a zone; unchanged if it has none."""
        return replace(step, site=choose_site(self._sites_now(step.place), step.place, tried))

    def with_sites(self, ahead: Ahead, tried: Sequence[Tried]) -> Ahead:
        """Return what is ahead with the sites of the place that has just refused; unchanged if none has."""
        if not tried or tried[-1].outcome.cause is not Cause.CAPACITY:
            return ahead
        place = tried[-1].attempt.place
        return replace(ahead, sites=self._sites[place] if place in self._sites else self._sites_now(place))

    def _sites_now(self, place: int) -> tuple[str, ...]:
        """Return the sites of a place in the order in which they should be asked now; nothing if it has none."""
        at = self.task.places[place]
        runner = self.runner(at.lane)
        self._sites[place] = tuple(runner.sites(self.template(at.lane), at)) if isinstance(runner, OffersSites) else ()
        return self._sites[place]

    def attempt(self, step: Start, number: int, submission: int, now: float) -> Attempt:
        """Return what is recorded of a start: all that is needed to make it, whoever comes to it."""
        place = self.task.places[step.place]
        place = replace(place, site=place.site or step.site)
        request = self.request(place, number, step.max_runtime_s, step.max_wait_s)
        return Attempt(
            task=self.task.number,
            number=number,
            place=step.place,
            lane=request.lane,
            training=request.training,
            request_hash=request.hash,
            max_runtime_s=step.max_runtime_s,
            recorded_at=now,
            rate=place.rate,
            site=place.site,
            instances=place.instances,
            output=self.template(place.lane).output,
            submission=submission,
            others=self.task.together(self.task.places[step.place])[1:],
            max_wait_s=step.max_wait_s,
            allowance_s=place.allowance_s,
        )

    def recorded_request(self, attempt: Attempt) -> Request:
        """Return the very request that was recorded, made again. Raise AlreadyExists when it comes out another one."""
        for place in self.task.places:
            if attempt.is_at(place) and place.instances == attempt.instances:
                at = replace(place, site=attempt.site)
                request = self.request(at, attempt.number, attempt.max_runtime_s, attempt.max_wait_s)
                if request.hash == attempt.request_hash:
                    return request
        raise AlreadyExists(
            f"{attempt.training} was recorded with another request than this launcher would send",
            hint="another version of the launcher recorded it: `sweep retry` makes a new attempt",
        )

    def why_not_read(self, place: Place) -> str:
        """Return in words that a place's data lies in another Region than the place; nothing if it does not.

        Reading it from there would be paid by the gigabyte, and no plan has counted on it. Only AWS can say where a
        bucket really lies; it says so at once, and is asked once. If it says nothing, the platform will.
        """
        try:
            bucket = S3Uri.parse(place.s3_uri).bucket
            there = self._bucket_regions.get(bucket) or self.control.s3.region_of(bucket)
        except (NotFound, AccessError, InvalidRequest, ValueError) as error:
            log.warning("task %d: where its data lies cannot be asked: %s", self.task.number, error)
            return ""
        self._bucket_regions[bucket] = there
        if there == place.lane.region:
            return ""
        return (
            f"its data would be read from {there}: the bucket {bucket} does not lie in {place.lane.region} "
            "(mend the replica in the catalog, then plan again)"
        )

    def start(self, request: Request) -> None:
        self.runner(request.lane).start(request)

    def poll(self, attempt: Attempt) -> Outcome | None:
        """Return how the attempt's training stands. Warn, once, if it runs on something else than was asked for."""
        outcome = self.runner(attempt.lane).poll(attempt)
        if outcome is not None and outcome.note and outcome.note not in self._told:
            self._told.add(outcome.note)
            log.warning("task %d attempt %d: %s", self.task.number, attempt.number, outcome.note)
        return outcome

    def read_logs(self, history: TaskHistory, attempt: Attempt, outcome: Outcome, *, due: bool) -> Outcome:
        """Return the outcome with what the logs say: the metrics, why the training failed, and why it should be ended.

        Unless it is due, no log is read, and the metrics are those that were read last. What starts has no log yet.
        Raise Throttled or Unreachable if a finished training's log cannot be read now: its last lines say what it is
        worth, and nobody reads them later.
        """
        before = history.outcomes.get(attempt.number)
        outcome = outcome.following(before)
        if outcome.state is TaskState.STARTING:
            return outcome
        reader = history.metrics_reader
        if outcome.state.terminal:
            self._let_log_arrive(outcome)
        for one in reader.to_read(history.attempts, attempt) if due else ():
            problem = reader.read(self.runner(one.lane), one, self.template(one.lane))
            if one.number == attempt.number and outcome.state.terminal:
                self._read_again_later(one, problem)
        outcome = replace(outcome, metrics=reader.newest_values(outcome.metrics), not_finite=reader.diverged)
        if outcome.ended_for:
            return outcome
        if due:
            outcome = replace(outcome, ended_for=self.watchdog.why_end(outcome, reader))
            outcome = replace(outcome, silent_since=self.watchdog.silent_since(outcome))
        elif before and outcome.state is TaskState.RUNNING:
            outcome = replace(outcome, silent_since=before.silent_since)
        if outcome.state is TaskState.FAILED and outcome.cause is Cause.TASK:
            template = self.template(attempt.lane)
            reason = explain_failure(outcome.reason, self.runner(attempt.lane), attempt, template)
            outcome = replace(outcome, reason=reason)
        return outcome

    def _let_log_arrive(self, outcome: Outcome) -> None:
        """Wait until what a training has written last can be read, if it has ended only now."""
        arrives_s = min(LOG_ARRIVES_S, self.poll_s / 3)
        since_end = self.world.now() - outcome.ended_at if outcome.ended_at is not None else arrives_s
        if 0 <= since_end < arrives_s and not self.world.terminated():
            self.world.sleep(arrives_s - since_end)

    def _read_again_later(self, attempt: Attempt, problem: SweepError | None) -> None:
        """Raise why the end of a log could not be read, if that may pass, and is not so for long already."""
        if isinstance(problem, Throttled | Unreachable):
            now = self.world.now()
            if now - self._unread_since.setdefault(attempt.training, now) < LOG_PATIENCE_S:
                raise problem

    def stop(self, attempt: Attempt) -> None:
        self.runner(attempt.lane).stop(attempt)
