"""The Python API: plan, submit, open a run. The CLI is a thin client of it."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.account import account
from orchestrator.aws.session import Clients
from orchestrator.catalog.catalog import Catalog
from orchestrator.catalog.check_catalog import Problem
from orchestrator.errors import Refused, UsageError
from orchestrator.images import Pushed, push
from orchestrator.images import address as image_address
from orchestrator.plan.file import read_plan, write_plan
from orchestrator.plan.frontier_chart import draw_frontier
from orchestrator.plan.plan import Plan, Share
from orchestrator.plans import Plans
from orchestrator.platforms.source import pack
from orchestrator.rules import Rules, read_sweep, schema
from orchestrator.runs.artifacts import Fetched
from orchestrator.runs.cloud import Cloud
from orchestrator.runs.known.lease import booking
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.run import Run
from orchestrator.runs.sending.check import check
from orchestrator.runs.sending.dry_run import requests
from orchestrator.runs.sending.submit import submit
from orchestrator.runs.views.costs import CostRow
from orchestrator.runs.views.logs import LogLine
from orchestrator.runs.views.outlook import Outlook
from orchestrator.runs.views.status import RunRow, Status
from orchestrator.runs.views.tasks import TaskRow
from orchestrator.runs.written import anchor as anchors
from orchestrator.runs.written.anchor import Anchor, claim
from orchestrator.settings import Settings
from orchestrator.settings import read as read_settings
from orchestrator.spec.classic import read_classic
from orchestrator.spec.duration import seconds as read_duration
from orchestrator.spec.sweep import Objective, Sweep
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.platforms.base import Planning
    from orchestrator.platforms.source import Package
    from orchestrator.wire.manifest import ClassicLine

__all__ = [
    "CostRow",
    "Fetched",
    "Lane",
    "LogLine",
    "Objective",
    "Orchestrator",
    "Outlook",
    "Plan",
    "Problem",
    "Pushed",
    "Ranges",
    "Run",
    "RunRow",
    "Settings",
    "Share",
    "Status",
    "Sweep",
    "TaskRow",
    "TaskState",
    "draw_frontier",
    "image_address",
    "read_duration",
    "read_plan",
    "read_settings",
    "read_sweep",
    "schema",
    "write_plan",
]


class Orchestrator:
    """A team's catalog, ledger and cloud, each opened on first use."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or read_settings()

    @cached_property
    def catalog(self) -> Catalog:
        return Catalog(self.settings.database, self._rules.all(), self._rules.usual)

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger(self.catalog.engine)

    @cached_property
    def cloud(self) -> Cloud:
        return Cloud(Clients(self.settings.profile), account(self.settings), self.planning)

    def planning(self, name: str) -> Planning:
        """Return what can be planned on a platform, as the settings set it up. UsageError if it is not installed."""
        return self._rules.planning(name)

    @cached_property
    def _rules(self) -> Rules:
        return Rules(self.settings)

    @cached_property
    def _plans(self) -> Plans:
        return Plans(self.catalog, self._rules)

    def plan(self, sweep: Sweep, classic: Path | None = None, *, time_limit_s: float | None = None) -> Plan:
        """Return where each task should run. This asks the catalog only: no network, no credentials.

        A classic two-column JOBARRAY file, if given, says where the data lies instead of the catalog's replicas.
        With a time limit, it is the best plan found until then: the same input may give another one.
        """
        return self._plans.make(sweep, _lines(classic), time_limit_s)

    def replan(self, plan: Plan) -> Plan:
        """Plan the same sweep again, with what the catalog says today."""
        return self._plans.make(plan.sweep, plan.classic_lines or None)

    def explain(self, plan: Plan, what: str, classic: Path | None = None) -> list[str]:
        """Return in words why a task, by its number, or a dataset, by its name, goes where it goes."""
        return self._plans.explain(plan, what, _lines(classic))

    def difference(self, old: Plan, new: Plan, classic: Path | None = None) -> list[str]:
        """Return in words what changed from one plan to another, and why."""
        return self._plans.difference(old, new, _lines(classic))

    def frontier(self, sweep: Sweep, classic: Path | None = None) -> list[Plan]:
        """Return plans from the cheapest within the horizon to the fastest: what time costs."""
        return self._plans.frontier(sweep, _lines(classic))

    def stale(self, plan: Plan) -> str:
        """Return in one line why the plan no longer holds; nothing if it does. If nobody here can tell, it warns."""
        return self._plans.stale(plan)

    def submit(self, plan: Plan, *, name: str | None = None, again: bool = False) -> Run:
        """Start exactly this plan, once: submitting it again finds, or completes, the same run.

        Refused if the plan is stale: then nothing is written.
        """
        package = self._pack(plan)
        wanted = self._anchor(plan, package, name)
        if package:
            check(wanted, self.cloud)
            anchor = claim(wanted, self.cloud.s3, self._reserve, again=again)
        else:
            anchor = self._resume(wanted)
        submit(anchor, package, self.ledger, self.cloud)
        return self._run(anchor)

    def _resume(self, wanted: Anchor) -> Anchor:
        """Return the run that is there already. UsageError if there is none: without its sources nobody can make it."""
        there = anchors.find(self.cloud.s3, wanted.name)
        if there is None:
            raise _no_source(wanted.plan)
        return anchors.same(there, wanted)

    def _reserve(self, wanted: Anchor) -> Anchor:
        """Note the run with its slots, before it is made, so that what is refused leaves nothing behind.

        Refused if the plan no longer holds. A run of this name that is noted already is returned as it is: a submit
        that was killed on its way.
        """
        with booking(self.ledger) as slots:
            noted = self.ledger.anchor(wanted.name)
            if noted is None:
                reason = self.stale(wanted.plan)
                if reason:
                    raise Refused(f"plan {wanted.plan.id} is stale: {reason}", hint="--replan plans anew, and asks")
                slots.take(wanted, self.cloud.account)
        return noted or wanted

    def under_way(self, sweep: Sweep, name: str | None = None) -> Run | None:
        """Return the newest run of this very sweep that has not ended: of this name, or named by its plan."""
        for anchor in self.ledger.of_workload(sweep.name):
            if anchor.name == (name or anchor.plan.id) and _same(anchor.plan.sweep, sweep):
                run = self._run(anchor)
                run.sync()
                if not run.status().finished:
                    return run
        return None

    def requests(self, plan: Plan, *, name: str | None = None) -> dict[str, Any]:
        """Return what `submit` would send to AWS: the dry run."""
        package = self._pack(plan)
        if package is None:
            raise _no_source(plan)
        return requests(self._anchor(plan, package, name), package, self.cloud)

    def push_image(self, name: str, regions: list[str] | None = None) -> Iterator[Pushed]:
        """Push a local container image to these Regions, or to the control Region and all that hold data."""
        if regions is None:
            holding = {str(row["region"]) for row in self.catalog.show("replicas")}
            regions = sorted(holding | {self.settings.region})
        return push(name, regions, Clients(self.settings.profile))

    def runs(self) -> list[RunRow]:
        """Return all runs that this database knows, newest first."""
        rows = []
        for name in self._names():
            status = self.run(name).status()
            rows.append(RunRow(name, status.created_at, status.tasks, status.state, status.usd))
        return rows

    def run(self, name: str | None = None) -> Run:
        """Open a run by its name, from the database or else from the control bucket; the newest if none is named."""
        if name is None:
            names = self._names()
            if not names:
                raise UsageError("there are no runs yet", hint="`sweep submit` makes one")
            name = names[0]
        anchor = self.ledger.anchor(name)
        if anchor is None:
            anchor = anchors.read(self.cloud.s3, name)
            self.ledger.remember(anchor, self.cloud.account)
        return self._run(anchor)

    def _names(self) -> list[str]:
        """Return the names of runs, newest first. An empty database first learns what the control bucket holds."""
        names = self.ledger.names()
        if names or not self.settings.bucket:
            return names
        for name in anchors.names(self.cloud.s3):
            anchor = anchors.find(self.cloud.s3, name)
            if anchor:
                self.ledger.remember(anchor, self.cloud.account)
        return self.ledger.names()

    def _pack(self, plan: Plan) -> Package | None:
        """Return the sources as they are now; None when their folder is not here, as for a run resumed elsewhere."""
        folder = plan.source_folder
        if not plan.sweep.source_is_meant:
            raise UsageError(
                f"its source folder {plan.sweep.train.source} lies outside the sweep's folder",
                where=f"plan {plan.id}",
                hint="say `source_outside: true` in the sweep file if that is meant, and plan again",
            )
        if not folder.is_dir():
            return None
        starter = any(self.planning(platform).needs_starter(plan.sweep) for platform, _ in plan.sites)
        beside = [(plan.sweep.folder / name).resolve() for name in plan.sweep.train.dependencies]
        return pack(folder, plan.sweep.train.entry_point, starter=starter, dependencies=beside)

    def _run(self, anchor: Anchor) -> Run:
        return Run(anchor, self.ledger, lambda: self.cloud)

    def _anchor(self, plan: Plan, package: Package | None, name: str | None) -> Anchor:
        code = package.digest if package else ""
        run = anchors.run_name(plan.id if name is None else name)
        return Anchor(run, plan, code, self.settings.owner, time.time())


def _lines(classic: Path | None) -> list[ClassicLine] | None:
    return read_classic(classic) if classic else None


def _same(one: Sweep, other: Sweep) -> bool:
    """Return whether two sweeps are the same as files, wherever their folders are."""
    return one.as_written().model_dump(mode="json") == other.as_written().model_dump(mode="json")


def _no_source(plan: Plan) -> UsageError:
    return UsageError("there is no such source folder", where=str(plan.source_folder), hint="`train.source` names it")
