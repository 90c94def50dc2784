"""The team's way in: a catalog, a ledger and a cloud, and what they do together."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from orchestrator.db.database import Database
from orchestrator.errors import CatalogError
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.runs import Runs
from orchestrator.runs.written import anchor as anchors
from orchestrator.runs.written.anchor import Anchor
from orchestrator.settings.settings import read as read_settings
from orchestrator.sources import refuse_no_source
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from orchestrator.aws.s3 import S3
    from orchestrator.aws.session import Clients
    from orchestrator.catalog.catalog import Catalog
    from orchestrator.feeds.feeds import Feeds
    from orchestrator.images.push import Pushed
    from orchestrator.plan.plan import Plan
    from orchestrator.plans import Plans
    from orchestrator.platforms.base import Planning
    from orchestrator.platforms.source import Package
    from orchestrator.rules import Rules
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.ending.reap import Search
    from orchestrator.runs.run import Run
    from orchestrator.runs.sending.proposal import Proposal
    from orchestrator.runs.views.status import RunRow
    from orchestrator.runs.written.home import Home
    from orchestrator.settings.settings import Settings
    from orchestrator.snapshots import Snapshots
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.manifest import ClassicLine
    from orchestrator.wire.task import Quota


log = logging.getLogger(__name__)


class Orchestrator:
    """A team's catalog, ledger and cloud, each opened on first use."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or read_settings()

    @cached_property
    def database(self) -> Database:
        return Database(self.settings.database)

    @cached_property
    def catalog(self) -> Catalog:
        from orchestrator.catalog.catalog import Catalog

        return Catalog(self.database, self.rules.all(), self.rules.usual, self.settings.max_age)

    @cached_property
    def feeds(self) -> Feeds:
        from orchestrator.feeds.feeds import Feeds

        settings = self.settings
        addresses = {"spot-advisor": settings.spot_advisor} if settings.spot_advisor else {}
        return Feeds(self.catalog, self._clients, settings.region, settings.infra.regions, addresses)

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger(self.database)

    @cached_property
    def cloud(self) -> Cloud:
        return self._cloud_of(self.settings)

    def _cloud_of(self, settings: Settings) -> Cloud:
        from orchestrator.account import account
        from orchestrator.runs.cloud import Cloud

        return Cloud(self._clients, account(settings), self.planning)

    @cached_property
    def control(self) -> S3:
        """The control bucket by itself: what no run is needed for. SettingsError if the settings name none."""
        from orchestrator.aws.s3 import S3

        self.settings.require("bucket")
        return S3(self._clients, self.settings.region, self.settings.bucket or "")

    @cached_property
    def snapshots(self) -> Snapshots:
        """The catalog snapshots in the control bucket."""
        from orchestrator.snapshots import Snapshots

        return Snapshots(self.control)

    @cached_property
    def _clients(self) -> Clients:
        from orchestrator.aws.session import Clients

        return Clients(self.settings.profile)

    def planning(self, name: str) -> Planning:
        """Return what can be planned on a platform, as the settings set it up. UsageError if it is not installed."""
        return self.rules.planning(name)

    @cached_property
    def rules(self) -> Rules:
        """The platforms that a sweep may use, and what they refuse of it."""
        from orchestrator.rules import Rules

        return Rules(self.settings, lambda: self.catalog.told_shapes())

    @cached_property
    def _plans(self) -> Plans:
        from orchestrator.plans import Plans

        return Plans(self.catalog, self.rules)

    def plan(self, sweep: Sweep, classic: Path | None = None, *, time_limit_s: float | None = None) -> Plan:
        """Return where each task should run. This asks the catalog only: no network, no credentials.

        A classic two-column JOBARRAY file, if given, says where the data lies instead of the catalog's replicas.
        With a time limit, it is the best plan found until then: the same input may give another one.
        """
        return self._plans.make(sweep, _lines(classic), time_limit_s)

    @contextmanager
    def as_of(self, moment: datetime | None) -> Iterator[Orchestrator]:
        """Yield an Orchestrator whose catalog is what was known at a moment; without one, this.

        It is for plans alone: its database goes when the `with` block ends. Raise CatalogError where no price was known
        then, and some are known now.
        """
        if moment is None:
            yield self
            return
        first = self.catalog.first_price()
        if first is not None and moment < first:
            then, known = (at.isoformat().replace("+00:00", "Z") for at in (moment, first))
            raise CatalogError("no price was known then", where=then, hint=f"the first is of {known}")
        with TemporaryDirectory(prefix="sweep-") as folder:
            file = Path(folder) / "catalog.db"
            self.catalog.snapshot(file, moment)
            yield Orchestrator(replace(self.settings, database=f"sqlite:///{file}"))

    def replan(self, plan: Plan) -> Plan:
        """Plan the same sweep again, with what the catalog says today."""
        return self._plans.make(plan.sweep, plan.classic_lines or None)

    def explain(self, plan: Plan, what: str, classic: Path | None = None) -> list[str]:
        """Return in words why a task, by its number, or a dataset, by its name, goes where it goes."""
        return self._plans.explain(plan, what, _lines(classic))

    def savings(self, plan: Plan) -> dict[Quota, float | None]:
        """Return the $ that one more slot of each quota would save that a plan, just made, has no room in.

        None stands for what would take too long to work out.
        """
        return self._plans.savings(plan)

    def difference(self, old: Plan, new: Plan, classic: Path | None = None) -> list[str]:
        """Return in words what changed from one plan to another, and why."""
        return self._plans.difference(old, new, _lines(classic))

    def frontier(self, sweep: Sweep, classic: Path | None = None) -> list[Plan]:
        """Return plans from the cheapest within the horizon to the fastest: what time costs."""
        return self._plans.frontier(sweep, _lines(classic))

    def stale(self, plan: Plan) -> str:
        """Return in one line why the plan no longer holds; nothing if it does. If nobody here can tell, it warns."""
        return self._plans.stale(plan)

    def submit(
        self, plan: Plan, *, name: str | None = None, again: bool = False, package: Package | None = None
    ) -> Run:
        """Start exactly this plan, once: submitting it again finds, or completes, the same run.

        `package` has the sources where their folder is not here. Refused if the plan is stale: then nothing is written.
        """
        from orchestrator.runs.sending.changes import saying_changes
        from orchestrator.runs.sending.check import check
        from orchestrator.runs.sending.envelopes import holding
        from orchestrator.runs.sending.submit import submit

        package = package or self._pack(plan)
        wanted = self._anchor(plan, package, name)
        if package:
            with saying_changes(package, self.cloud), holding(self.ledger, self.cloud, check) as ready:
                anchor = self._runs.make(wanted, ready, self.stale, again=again)
        else:
            anchor = (None if again else self._runs.resume(wanted)) or refuse_no_source(plan.source_folder)
        run = self._runs.opened(anchor)
        submit(anchor, package, self.ledger, run.cloud)
        return run

    def run_of(self, sweep: Sweep, name: str | None = None) -> Run | None:
        """Return the run that a submit of this very sweep goes on with, from wherever it was submitted, or None.

        With a name it is the run of that name, however it stands; without one, the newest that has not ended.
        """
        return self._runs.of_sweep(sweep, name)

    def requests(self, plan: Plan, *, name: str | None = None, again: bool = False) -> dict[str, Any]:
        """Return what `submit` would send to AWS, or raise what it would raise: the dry run. Nothing is written."""
        from orchestrator.runs.sending.changes import saying_changes
        from orchestrator.runs.sending.check import check_run
        from orchestrator.runs.sending.dry_run import requests
        from orchestrator.runs.sending.envelopes import foreseeing

        package = self._pack(plan) or refuse_no_source(plan.source_folder)
        check = foreseeing(self.ledger, self.cloud, check_run)
        with saying_changes(package, self.cloud):
            anchor = self._runs.foresee(self._anchor(plan, package, name), check, self.stale, again=again)
        return requests(anchor, package, self._runs.opened(anchor).cloud)

    def push_image(self, name: str, regions: list[str] | None = None) -> Iterator[Pushed]:
        """Push a local container image to these Regions, or to the control Region and all that hold data."""
        from orchestrator.images.push import push

        if regions is None:
            holding = {str(row["region"]) for row in self.catalog.show("replicas")}
            regions = sorted(holding | {self.settings.region})
        return push(name, regions, self._clients)

    def check_damage(self) -> None:
        """Raise Damaged, with their addresses, if stored objects could not be understood and were left out."""
        if "ledger" in self.__dict__:
            self.ledger.damage.check()

    def runs(self, *, sync: bool = True) -> list[RunRow]:
        """Return all runs, newest first: those of the bucket too that this database has not seen yet.

        Without `sync` nothing is asked of AWS: they are those that this database knows.
        """
        from orchestrator.runs.views.first_look import list_runs

        return list_runs(self._runs, sync=sync and bool(self.settings.bucket))

    def learn_runs(self) -> list[str]:
        """Remember all runs of the bucket. Return what could not be read, a line each."""
        return self._runs.learn() if self.settings.bucket else []

    def reap(self, *, stop: bool = False) -> Search:
        """Return what carries our tags in any Region and belongs to no live run; with `stop`, ask it to stop."""
        from orchestrator.runs.ending.reap import find_strays

        prices = {
            Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"])): row["usd_per_hour"]
            for row in self.catalog.show("prices")
        }
        platforms = {name: name in self.rules.usual for name in self.rules.all()}
        return find_strays(self.cloud, platforms, prices, stop=stop)

    def run(self, name: str | None = None) -> Run:
        """Open a run by its name, from the database or else from the control bucket; the newest if none is named."""
        return self._runs.open(name)

    def propose(self, run: Run) -> Proposal | None:
        """Return where tasks of a run that were not started would go today, and what that saves; None without any."""
        return self._plans.again(run, time.time())

    @cached_property
    def _runs(self) -> Runs:
        return Runs(self.ledger, self._cloud_at, self.settings.bucket or "")

    def _pack(self, plan: Plan) -> Package | None:
        from orchestrator.sources import pack_sources

        return pack_sources(plan, self.planning)

    def _cloud_at(self, home: Home | None) -> Cloud:
        """Return the AWS of a run with this home: in its Region, with its queues, whatever our settings say."""
        if home is None or home == self.cloud.account.home:
            return self.cloud
        there = replace(self.settings, region=home.region, queue=home.queue, lane_queue=home.lane_queue)
        return self._cloud_of(there)

    def _anchor(self, plan: Plan, package: Package | None, name: str | None) -> Anchor:
        code = package.digest if package else ""
        run = anchors.run_name(plan.id if name is None else name)
        return Anchor(run, plan, code, self.settings.owner, time.time(), self.cloud.account.home)


def _lines(classic: Path | None) -> list[ClassicLine] | None:
    from orchestrator.spec.classic import read_classic

    return read_classic(classic) if classic else None
