"""Finds what a refused sweep would have to allow: other Regions, or copies of its data. Whatever is named was tried.

These are suggestions. Only the user decides where data may lie, and be trained on.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from orchestrator.errors import InfeasibleError, SweepError
from orchestrator.planner.explain.shortfall import Shortfall
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.start_rates import StartsTooLate, solve_in_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.planner.offer.formulate import Formulation
    from orchestrator.spec.sweep import Sweep

    Survey = Callable[[Sweep], Market]

LOOKED_AT = 6
"""Regions that are tried: those where the work is cheapest."""
NAMED = 2
"""Regions that are named, each of which does by itself."""
MOVE = "`data: {move_data: if_cheaper}`"


def suggest_elsewhere(refusal: InfeasibleError, sweep: Sweep, survey: Survey) -> InfeasibleError:
    """Return the refusal with a hint that also says what else could be allowed.

    `survey` answers with the Market of any sweep, as the catalog would.
    """
    hints = [refusal.hint, *_suggestions(sweep, survey)]
    return type(refusal)(refusal.message, where=refusal.where, hint=", or ".join(hints))


def _suggestions(sweep: Sweep, survey: Survey) -> Iterator[str]:
    stays = sweep.data.move_data == "never"
    moving = sweep.model_copy(update={"data": sweep.data.model_copy(update={"move_data": "if_cheaper"})})
    regions = _regions_that_would_do(sweep, survey)
    if regions:
        yield f"allow {regions}"
    if not stays:
        return
    if _has_plan(moving, lambda: survey(moving)):
        yield f"let data move with {MOVE}"
    elif not regions:
        regions = _regions_that_would_do(moving, survey)
        if regions:
            yield f"allow {regions} and let data move there with {MOVE}"


def _regions_that_would_do(sweep: Sweep, survey: Survey) -> str:
    """Return in words which further Regions would do: any of some, or some together. Nothing, if none do."""
    if not sweep.where.regions:
        return ""
    anywhere = _allowing(sweep, [])
    try:
        market = survey(anywhere)
        formulation = formulate(anywhere, market)
    except SweepError:
        return ""

    def would_do(names: list[str]) -> bool:
        wider = _allowing(sweep, [*sweep.where.regions, *names])
        return _may_fit(formulation, wider) and _has_plan(wider, lambda: _within(market, wider.where.regions))

    more = [name for name in _cheapest_first(formulation) if name not in sweep.where.regions][:LOOKED_AT]
    alone = list(islice((name for name in more if would_do([name])), NAMED))
    if alone:
        return " or ".join(alone)
    for count in range(2, len(more) + 1):
        if would_do(more[:count]):
            return " and ".join(more[:count])
    return ""


def _allowing(sweep: Sweep, regions: list[str]) -> Sweep:
    """Return the sweep with these Regions allowed; all Regions, if there are none."""
    return sweep.model_copy(update={"where": sweep.where.model_copy(update={"regions": regions})})


def _within(market: Market, regions: list[str]) -> Market:
    """Return the Market as it would be for these Regions alone."""
    return replace(market, candidates=market.candidates[market.candidates["region"].isin(regions)])


def _cheapest_first(formulation: Formulation) -> list[str]:
    """Return the Regions by what all tasks would cost there. Those where most tasks cannot run come last."""
    problem, region = formulation.offer.problem, formulation.offer.lanes["region"].to_numpy()
    codes, names = pd.factorize(region[problem.choices.lane], sort=True)
    usd = np.full((len(names), len(problem.counts)), np.inf)
    np.minimum.at(usd, (codes, problem.choices.cohort), problem.choices.usd)
    missing = (np.isinf(usd) * problem.counts).sum(axis=1)
    cost = (np.where(np.isinf(usd), 0, usd) * problem.counts).sum(axis=1)
    return [str(names[number]) for number in np.lexsort((cost, missing))]


def _may_fit(formulation: Formulation, sweep: Sweep) -> bool:
    """Return whether fluid tasks would fit. That is far quicker to find out than whether there is a plan."""
    problem = formulation.offer.problem.within(sweep.plan.hours)
    there = formulation.offer.lanes["region"].isin(sweep.where.regions).to_numpy()
    only = replace(problem, choices=problem.choices.take(there[problem.choices.lane]))
    if only.stranded.size:
        return False
    shortfall = Shortfall(only)
    missing = shortfall.missing_steps(np.zeros(len(shortfall.free), dtype=bool))
    return float(missing.max(initial=0.0)) < 1e-6


def _has_plan(sweep: Sweep, market: Callable[[], Market]) -> bool:
    try:
        solve_in_time(formulate(sweep, market()).offer, sweep.plan, TimeLimit())
    except (DoesNotFit, StartsTooLate, SweepError):
        return False
    return True
