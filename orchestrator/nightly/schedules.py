"""Schedules: made, changed, paused and taken away, in the control bucket and in EventBridge Scheduler."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator import resources
from orchestrator.account import account_number
from orchestrator.aws.account.ecr import pin_image
from orchestrator.aws.jobs.batch import ArrayJob, Batch
from orchestrator.aws.jobs.definitions import render
from orchestrator.aws.jobs.scheduler import Scheduler, Timer
from orchestrator.errors import Damaged, NotFound, UsageError
from orchestrator.nightly.calendar import catch_up
from orchestrator.nightly.conduct import Clock, Conductor
from orchestrator.nightly.dead_letters import look_at_dead_letters
from orchestrator.nightly.freeze import describe_changes
from orchestrator.nightly.goal import read_goal, write_goal
from orchestrator.nightly.shelf import Entry, Shelf, check_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.errors import SweepError
    from orchestrator.nightly.conduct import Conducted
    from orchestrator.nightly.dead_letters import DeadLetter
    from orchestrator.nightly.freeze import Frozen
    from orchestrator.nightly.goal import Goal
    from orchestrator.nightly.shelf import Night
    from orchestrator.orchestrator import Orchestrator

GROUP = "sweep"
"""The group of EventBridge Scheduler, unless the settings name another one."""
DEFINITION = "job_definitions/conductor.json"


class Schedules:
    """The schedules of a team."""

    def __init__(self, team: Orchestrator) -> None:
        self._team = team
        self._settings = team.settings
        self.s3 = team.control
        self.shelf = Shelf(self.s3)

    def create(self, frozen: Frozen) -> Entry:
        """Make a schedule. Killed on its way, the same call completes it.

        UsageError if there is another one of its name. SettingsError for what its job needs and the settings lack,
        NotFound if there is no such image of the conductor.
        """
        goal, name = frozen.goal, check_name(frozen.goal.schedule)
        self.s3.check()
        write_goal(self.s3, goal, frozen.package)
        now = time.time()
        definition = self._define()
        entry = Entry(name, goal.digest, now, now, self._settings.owner, definition=definition)
        if not self.shelf.create(entry):
            there = self.shelf.entry(name)
            if (there.goal, there.definition) != (entry.goal, definition):
                raise _taken(name)
            entry = there
        self._arm(entry, goal)
        return entry

    def check_free(self, goal: Goal) -> None:
        """Raise UsageError if another schedule has this one's name. This very one may be completed."""
        if goal.schedule in self.shelf.names() and self.shelf.entry(goal.schedule).goal != goal.digest:
            raise _taken(goal.schedule)

    def others_of(self, goal: Goal) -> list[str]:
        """Return the names of the other schedules of this workload."""
        return [name for name in self.shelf.names() if name != goal.schedule and self._trains(name, goal.sweep.name)]

    def _trains(self, name: str, workload: str) -> bool:
        try:
            return self.goal(self.shelf.entry(name)).sweep.name == workload
        except (Damaged, UsageError):
            return False  # nobody knows what it trains, and `sweep schedule list` names it

    def changes(self, frozen: Frozen) -> list[str]:
        """Return in words what an update would change, a line each; nothing if nothing does."""
        entry = self.shelf.entry(frozen.goal.schedule)
        try:
            there = self.goal(entry)
        except Damaged as error:
            return [f"{entry.goal}, which {error.message}: {frozen.goal.digest} takes its place"]
        return describe_changes(there, frozen.goal)

    def update(self, frozen: Frozen) -> Entry:
        """Let a schedule do this from its next night on. What runs goes on as it was begun."""
        goal = frozen.goal
        there = self.shelf.entry(goal.schedule)
        write_goal(self.s3, goal, frozen.package)
        definition = self._define()
        if (there.goal, there.definition) != (goal.digest, definition):
            there = self.shelf.change(there.name, goal=goal.digest, definition=definition)
        self._arm(there, goal)
        return there

    def pause(self, name: str) -> Entry:
        """Begin no more nights. What runs goes on."""
        entry = self.shelf.entry(name)
        goal = self.goal(entry)
        if not entry.paused:
            entry = self.shelf.change(name, paused=True)
        self._arm(entry, goal)
        return entry

    def resume(self, name: str) -> Entry:
        """Begin nights again, with the next that is due: those that were due meanwhile are left out."""
        entry = self.shelf.entry(name)
        goal = self.goal(entry)
        if entry.paused:
            entry = self.shelf.change(name, paused=False, since=time.time())
        self._arm(entry, goal)
        return entry

    def delete(self, name: str) -> None:
        """Take a schedule away, be it damaged. Its runs, and what is known of its nights, stay."""
        self.shelf.check_there(name)
        for timer in (name, f"{name}-utc"):
            self._scheduler.delete(self._group, timer)
        self.shelf.delete(name)

    def leave_out(self, error: SweepError) -> None:
        """Note a stored object that cannot be understood, for the Orchestrator's `check_damage`."""
        self._team.ledger.damage.note(error)

    def goal(self, entry: Entry) -> Goal:
        """Return what the nights of a schedule do."""
        return read_goal(self.s3, entry.goal)

    def is_armed(self, entry: Entry) -> bool:
        """Return whether EventBridge Scheduler starts it: both ticks are there, and enabled."""
        timers = [self._scheduler.find(self._group, name) for name in (entry.name, f"{entry.name}-utc")]
        return all(timer is not None and timer.enabled for timer in timers)

    def undelivered(self) -> list[DeadLetter]:
        """Return which ticks EventBridge Scheduler could not deliver, of whichever schedules, and told nobody yet."""
        return look_at_dead_letters(self._settings.schedule_dead_letters, self.s3.clients)

    def run_now(self, name: str, *, force: bool) -> Night:
        """Begin a night now, beside those of its times; with `force`, it trains everything. Nobody conducts it yet."""
        return Conductor(self.s3, name, Clock()).now(self._settings.owner, force=force)

    def send(self, night: Night) -> str:
        """Submit the job that conducts a night, and return its id."""
        entry = self.shelf.entry(night.schedule)
        job = ArrayJob(
            name=f"sweep-night-{night.instance}",
            queue=self._settings.queue,
            definition=entry.definition,
            size=1,
            environment={},
            tags={"sweep:owner": self._settings.owner, "sweep:schedule": night.schedule},
            parameters={"schedule": night.schedule, "tick": night.id},
        )
        batch = Batch(self._team.control.clients, self._settings.region)
        return batch.find(job.name, job.queue) or batch.submit(job)

    def conduct(self, night: Night) -> Conducted:
        """Conduct a night here, in the foreground, on the catalog of these settings."""
        return self._conductor(night.schedule).conduct(night)

    def tick(self, name: str) -> Iterator[Conducted]:
        """Conduct here what is due of a schedule, and what was given up."""
        yield from self._conductor(name).tick(f"{self._settings.owner}, in the foreground")

    def _conductor(self, name: str) -> Conductor:
        return Conductor(self.s3, name, Clock(), lambda *_: self._team)

    def _define(self) -> str:
        """Return the ARN of the conductor's job definition, with its image by digest; it is registered if need be."""
        settings = self._settings
        settings.require("conductor_image", "schedule_role")
        if not settings.role:
            settings.require("execution_role")
            if not settings.conductor_role:
                settings.require("job_role")
        number = account_number(settings)
        image = (settings.conductor_image or "").replace("{account}", number).replace("{region}", settings.region)
        try:
            pinned = pin_image(image, number, self._team.control.clients)
        except NotFound as error:
            raise NotFound(
                error.message,
                where="conductor_image",
                hint="build containers/conductor, then `sweep images push sweep-conductor:1` brings it there",
            ) from error
        values = {
            "image": pinned,
            "bucket": settings.bucket or "",
            "region": settings.region,
            "job_role": settings.conductor_role or settings.job_role or settings.role or "",
            "execution_role": settings.execution_role or settings.role or "",
            "log_group": settings.log_group,
            "owner": settings.owner,
        }
        rendered = render(resources.text(DEFINITION), values, where=DEFINITION)
        return Batch(self._team.control.clients, settings.region).ensure_definition(rendered)

    def _arm(self, entry: Entry, goal: Goal) -> None:
        """Let EventBridge Scheduler start it: at its time in its zone, and once a day in UTC for what that misses."""
        self._scheduler.ensure_group(self._group)
        night = Timer(
            group=self._group,
            name=entry.name,
            expression=goal.when.time.expression,
            zone=goal.when.timezone,
            role=self._settings.schedule_role or "",
            input=json.dumps(self._job(entry), separators=(",", ":")),
            enabled=not entry.paused,
            dead_letters=self._settings.schedule_dead_letters or "",
        )
        today = datetime.now(timezone.utc).date()
        later = replace(night, name=f"{entry.name}-utc", expression=catch_up(goal.when, today), zone="UTC")
        for timer in (night, later):
            self._scheduler.put(timer)

    def _job(self, entry: Entry) -> dict[str, Any]:
        """Return the request of SubmitJob, as a universal target writes it."""
        return {
            "JobName": f"sweep-night-{entry.name}",
            "JobQueue": self._settings.queue,
            "JobDefinition": entry.definition,
            "Parameters": {"schedule": entry.name, "tick": "<aws.scheduler.scheduled-time>"},
            "Tags": {"sweep:owner": self._settings.owner, "sweep:schedule": entry.name},
            "PropagateTags": True,
        }

    @property
    def _group(self) -> str:
        return self._settings.schedule_group or GROUP

    @property
    def _scheduler(self) -> Scheduler:
        return Scheduler(self._team.control.clients, self._settings.region)


def _taken(name: str) -> UsageError:
    hint = "`sweep schedule update` shows what changes, and changes it"
    return UsageError(f"there is a schedule {name!r} already", hint=hint)
