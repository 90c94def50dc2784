"""Plans: made from a sweep and the catalog, explained, compared, and held against what the catalog says today.

The planner is imported where it is used, for only a plan needs pandas.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError, UsageError
from orchestrator.plan.together import join_places
from orchestrator.spec.classic import check_lines

if TYPE_CHECKING:
    from orchestrator.catalog.catalog import Catalog
    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan
    from orchestrator.rules import Rules
    from orchestrator.runs.run import Run
    from orchestrator.runs.sending.proposal import Proposal
    from orchestrator.runs.sending.unstarted import Unstarted
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.manifest import ClassicLine
    from orchestrator.wire.task import Quota

logger = logging.getLogger(__name__)


class Plans:
    """Makes plans, and judges them. It asks the catalog only: no network, no credentials.

    The lines of a classic JOBARRAY file, where they are given, say where the data lies instead of the replicas.
    """

    def __init__(self, catalog: Catalog, rules: Rules) -> None:
        self._catalog = catalog
        self._rules = rules

    def make(self, sweep: Sweep, lines: list[ClassicLine] | None, time_limit_s: float | None = None) -> Plan:
        """Return where each task should run. InfeasibleError, with what would do, if there is no such plan."""
        from orchestrator.planner.solve import solve

        sweep = self._checked(sweep)
        market = self._survey(sweep, lines)
        try:
            return self._joined(solve(sweep, market, time_limit_s))
        except InfeasibleError as refusal:
            if time_limit_s is not None:  # what else would do is found by planning again, several times
                raise
            from orchestrator.planner.explain.elsewhere import suggest_elsewhere

            raise suggest_elsewhere(refusal, sweep, lambda wider: self._survey(wider, lines)) from None

    def explain(self, plan: Plan, what: str, lines: list[ClassicLine] | None) -> list[str]:
        """Return in words why a task, by its number, or a dataset, by its name, goes where it goes."""
        from orchestrator.planner.explain.why import explain

        market = self._survey(plan.sweep, lines)
        if market.hash != plan.market:
            raise UsageError("prices, quotas or data have changed since the plan was made", hint="plan again")
        return explain(plan, what, market)

    def savings(self, plan: Plan) -> dict[Quota, float | None]:
        """Return the $ that slots for one more training would save, of each quota that the plan leaves no room in."""
        from orchestrator.planner.explain.one_more import find_savings

        return find_savings(plan, self._survey(plan.sweep, plan.classic_lines or None))

    def difference(self, old: Plan, new: Plan, lines: list[ClassicLine] | None) -> list[str]:
        """Return in words what changed from one plan to another, and why."""
        from orchestrator.planner.difference import difference

        return difference(old, new, self._survey(new.sweep, lines))

    def frontier(self, sweep: Sweep, lines: list[ClassicLine] | None) -> list[Plan]:
        """Return plans from the cheapest within the horizon to the fastest: what time costs."""
        from orchestrator.planner.frontier import frontier

        sweep = self._checked(sweep)
        return [self._joined(plan) for plan in frontier(sweep, self._survey(sweep, lines))]

    def stale(self, plan: Plan) -> str:
        """Return in one line why the plan no longer holds; nothing if it does. If nobody here can tell, it warns."""
        from orchestrator.planner.stale import why_stale
        from orchestrator.runs.known.history import history_of_lanes

        names = [dataset.name for dataset in plan.datasets]
        today = self._catalog.resurvey(plan.sweep, names, plan.classic_lines)
        past = history_of_lanes(self._catalog.engine_to_read, plan.sweep.name)
        today = replace(today, discounts=past.discounts, seen=past.seen)
        if today.candidates.empty:
            logger.warning("this catalog does not know the plan: its prices and slots were not checked again")
            return ""
        return why_stale(plan, today)

    def again(self, run: Run, now: float) -> Proposal | None:
        """Return another plan for the tasks of a run that have not been started, on today's facts; None without any.

        UsageError for a run that is cancelled or paused. InfeasibleError or Refused where there is no plan within what
        is left of deadline, budget and slots, and CatalogError where this catalog does not know their data.
        """
        from orchestrator.runs.sending.unstarted import find_unstarted

        return self.again_from(run.anchor, find_unstarted(run.anchor, run.ledger, run.cloud), now)

    def again_from(self, anchor: Anchor, unstarted: Unstarted, now: float) -> Proposal | None:
        """Return the same for a run of which it is known which tasks have not been started."""
        from orchestrator.again import propose
        from orchestrator.runs.known.history import history

        plan = unstarted.plan
        names = [dataset.name for dataset in plan.datasets]
        market = self._catalog.resurvey(plan.sweep, names, anchor.plan.classic_lines)
        past = history(self._catalog.engine_to_read, plan.sweep.name)
        market = replace(market, history=past.history, discounts=past.discounts, seen=past.seen)
        return propose(anchor, unstarted, market, self._joined, now)

    def _checked(self, sweep: Sweep) -> Sweep:
        """Return the sweep with its instance types. SpecError if one of its platforms cannot run it."""
        self._rules.check(sweep)
        return self._catalog.select_types(sweep)

    def _joined(self, plan: Plan) -> Plan:
        """Return the plan with those places together that one request of their platform asks for."""
        planning = {platform: self._rules.planning(platform) for platform, _ in plan.sites}
        return join_places(plan, lambda place, other: planning[place.lane.platform].joins(plan.sweep, place, other))

    def _survey(self, sweep: Sweep, lines: list[ClassicLine] | None) -> Market:
        """Return what the catalog says, with what was learned from earlier runs."""
        from orchestrator.runs.known.history import history

        check_lines(sweep, lines or ())
        self._rules.check_images(sweep, {line.image for line in lines or () if line.image})
        market = self._catalog.survey(sweep, lines, history(self._catalog.engine_to_read, sweep.name))
        return replace(market, launchers=self._rules.launchers_at_once)
