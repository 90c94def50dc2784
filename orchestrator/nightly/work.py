"""A night as a strategy of the conductor: what it looks at, and how each of its actions is done."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.errors import NotFound, OverBudget, UsageError
from orchestrator.nightly import aftermath
from orchestrator.nightly.goal import read_package
from orchestrator.nightly.night import LOOK_S, Manners, Sight, Standing, about_pick, about_wait, behind_whom, step_night
from orchestrator.nightly.picking.choose import MOST_PIECES, restrict
from orchestrator.nightly.picking.picked import Picked
from orchestrator.nightly.picking.take import Behind, Taker
from orchestrator.nightly.picking.trained import record_trained
from orchestrator.nightly.picking.under_way import UnderWay
from orchestrator.nightly.shelf import Shelf
from orchestrator.plan.plan import Plan
from orchestrator.wire.names import canonical
from orchestrator.wire.result import TaskState
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.aws.s3 import S3
    from orchestrator.conductor.step import Action, Next, Note, Seen
    from orchestrator.nightly.goal import Goal
    from orchestrator.nightly.picking.under_way import Claim
    from orchestrator.nightly.shelf import Night
    from orchestrator.orchestrator import Orchestrator

LAUNCHERS_LOOKS = 2
"""A night looks once while launchers look so often at their trainings."""
_BUSY = (TaskState.STARTING, TaskState.RUNNING)


class NightWork:
    """Does what one night asks for. Everything that it makes has a name that follows from the night's."""

    def __init__(
        self,
        goal: Goal,
        night: Night,
        s3: S3,
        team: Callable[[], Orchestrator],
        open_nights: Callable[[], Sequence[str]],
    ) -> None:
        """Take what opens the Orchestrator, and what tells which earlier nights of the schedule have not ended."""
        self.goal = goal
        self.night = night
        self._s3 = s3
        self._team = team
        self._open_nights = open_nights
        self._shelf = Shelf(s3)

    def look(self, notes: Sequence[Note]) -> Sight:
        """Return how this night's runs stand, which earlier nights still go on, and whether it was replaced."""
        replaced_by = self._shelf.replaced_by(self.night.schedule, self.night.id)
        done = [note.done for note in notes if note.action.kind == "submit" and note.done]
        sent = [each.value["run"] for each in done if "run" in each.value]
        picks = [note for note in notes if note.action.kind == "pick"]
        earlier = () if picks else tuple(self._open_nights())
        behind = behind_whom(picks[-1]) if picks else []
        training = tuple(claim.name for claim in self._under_way.live() if claim.name in behind) if behind else ()
        return Sight({name: self._standing(name) for name in sent}, earlier, training, replaced_by)

    def step(self, seen: Seen[Sight]) -> Next:
        """Return what is to be done next."""
        return step_night(self._manners, [self.night.run_name(piece) for piece in range(MOST_PIECES)], seen)

    @cached_property
    def _manners(self) -> Manners:
        """What the schedule says of its nights. Where launchers look more often than usual, nights do."""
        look_s = min(LOOK_S, LAUNCHERS_LOOKS * self.goal.settings("").poll_s)
        return Manners(self.goal.when.overlap, self.goal.sweep.promote is not None, look_s)

    def act(self, action: Action) -> dict[str, Any]:
        """Do it, or find it done."""
        return self._acts[action.kind](action.about)

    @cached_property
    def _acts(self) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        return {
            "pick": self._pick,
            "plan": self._plan,
            "submit": self._submit,
            "record": self._record,
            "judge": self._judge,
            "replace": self._replace,
            "cancel": self._cancel,
        }

    @property
    def _prefix(self) -> str:
        return f"conductor/{self.night.goal}/{self.night.instance}/"

    def _pick(self, _: dict[str, Any]) -> dict[str, Any]:
        """Look what there is to train, and take it, once: what was written down first is what counts."""
        try:
            picked = self._picked()
        except NotFound:
            found = Taker(self.goal, self.night, self._team(), self._counts).take(self._under_way)
            if isinstance(found, Behind):
                return about_wait(found.nights)
            self._s3.put_once(f"{self._prefix}picked.json", canonical(found.to_json()).encode())
            picked = self._picked()
        return about_pick(len(picked.pieces), picked.tasks, picked.why)

    def _counts(self, claim: Claim) -> bool:
        """Return whether another night's tasks are in its hands still: not if this night has taken its place."""
        schedule = self.night.schedule
        return claim.schedule != schedule or self._shelf.replaced_by(schedule, claim.night) != self.night.id

    @cached_property
    def _under_way(self) -> UnderWay:
        return UnderWay(self._s3, self.goal.sweep.name)

    def _picked(self) -> Picked:
        key = f"{self._prefix}picked.json"
        stored = self._s3.get(key)
        with damage_named(self._s3.uri(key)):
            return Picked.from_json(stored.json())

    def _plan(self, about: dict[str, Any]) -> dict[str, Any]:
        """Plan a piece, once for each try."""
        picked = self._picked()
        try:
            plan = self._planned(about)
        except NotFound:
            sweep = restrict(picked.warmed(self.goal.sweep), picked.pieces[about["piece"]], picked.regions)
            made = self._team().plan(sweep)
            self._s3.put_once(self._plan_key(about), canonical(made.to_json()).encode())
            plan = self._planned(about)
        return {"plan": plan.id, "tasks": plan.tasks, "usd": plan.usd, "worst_usd": plan.worst_usd}

    def _plan_key(self, about: dict[str, Any]) -> str:
        return f"{self._prefix}plans/{about['piece']}-{about['try']}.json"

    def _planned(self, about: dict[str, Any]) -> Plan:
        key = self._plan_key(about)
        stored = self._s3.get(key)
        with damage_named(self._s3.uri(key)):
            return Plan.from_json(stored.json())

    def _submit(self, about: dict[str, Any]) -> dict[str, Any]:
        """Submit a piece's plan under the name that this night has for it. Budgets that cannot pay it are no error."""
        package = read_package(self._s3, self.goal)
        try:
            run = self._team().submit(self._planned(about), name=about["run"], package=package)
        except OverBudget as error:
            return {"refused": str(error)}
        return {"run": run.name}

    def _standing(self, name: str) -> Standing:
        run = self._team().run(name)
        run.sync_as_far_as_possible(documents=False)
        status = run.status()
        stuck = bool(status.paused) and not any(status.counts[state] for state in _BUSY)
        return Standing(status.tasks, status.counts[TaskState.DONE], status.finished or stuck, status.usd)

    def _record(self, about: dict[str, Any]) -> dict[str, Any]:
        """Write down what was trained, so that the next night leaves it out; settle and tell that it has ended."""
        picked, count = self._picked(), 0
        for name in about["runs"]:
            run = self._team().run(name)
            run.sync_as_far_as_possible()
            done = [row.task for row in run.results() if row.state is TaskState.DONE]
            keys = {key for task in done for key in picked.keys(run.plan, task)}
            record_trained(self._s3, self.goal.sweep.name, name, keys)
            count += len(done)
            aftermath.close_run(self._team(), run)
        return {"tasks": count}

    def _judge(self, about: dict[str, Any]) -> dict[str, Any]:
        """Hold the best of each run against the champion."""
        team, said = self._team(), []
        for name in about["runs"]:
            run = team.run(name)
            run.sync_as_far_as_possible()  # whoever recorded it may be gone, and a database of its own with it
            said.append(aftermath.judge_run(team, run, self.night.instance))
        return {"why": "; ".join(said)}

    def _replace(self, about: dict[str, Any]) -> dict[str, Any]:
        """Take the place of earlier nights: their conductors, or whoever takes them up, cancel what they began."""
        for name in about["nights"]:
            self._shelf.replace(self.night.schedule, name, self.night.id)
        return {}

    def _cancel(self, about: dict[str, Any]) -> dict[str, Any]:
        """Cancel runs. Those that were never made, or have ended, need no cancel."""
        team = self._team()
        cancelled = []
        for name in about["runs"]:
            try:
                team.run(name).cancel()
                cancelled.append(name)
            except UsageError as error:
                cancelled.append(f"{name}: {error.message}")
        return {"cancelled": cancelled}
