"""What a refused sweep would have to allow: other Regions, copies of its data. Whatever is named was tried.

Only ever a suggestion. Where data may lie, and be trained on, is the user's to decide.
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
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.solver.meet_goal import meet_goal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.planner.offer.formulate import Formulation
    from orchestrator.spec.sweep import Sweep

    Survey = Callable[[Sweep], Market]

LOOKED_AT = 6
"""Regions: those where the work is cheapest."""
NAMED = 2
MOVE = "`data: {move_data: if_cheaper}`"


def advised(refusal: InfeasibleError, sweep: Sweep, survey: Survey) -> InfeasibleError:
    """The same refusal, with what else could be allowed."""
    ways = ", or ".join([refusal.hint, *_ways(sweep, survey)])
    return InfeasibleError(refusal.message, where=refusal.where, hint=ways)


def _ways(sweep: Sweep, survey: Survey) -> Iterator[str]:
    stays = sweep.data.move_data == "never"
    moving = sweep.model_copy(update={"data": sweep.data.model_copy(update={"move_data": "if_cheaper"})})
    if regions := _regions(sweep, survey):
        yield f"allow {regions}"
    moved = stays and _does(moving, lambda: survey(moving))
    if moved:
        yield f"let data move with {MOVE}"
    if stays and not regions and not moved and (regions := _regions(moving, survey)):
        yield f"allow {regions} and let data move there with {MOVE}"


def _regions(sweep: Sweep, survey: Survey) -> str:
    """Those that do: any of these, or all of these together; or nothing."""
    if not sweep.where.regions:
        return ""
    anywhere = _allowing(sweep, [])
    try:
        market = survey(anywhere)
        formulation = formulate(anywhere, market)
    except SweepError:
        return ""

    def does(names: list[str]) -> bool:
        wider = _allowing(sweep, [*sweep.where.regions, *names])
        return _has_room(formulation, wider) and _does(wider, lambda: _only(market, wider.where.regions))

    more = [name for name in _cheapest_first(formulation) if name not in sweep.where.regions][:LOOKED_AT]
    alone = list(islice((name for name in more if does([name])), NAMED))
    together = () if alone else next(filter(does, (more[:count] for count in range(2, len(more) + 1))), ())
    return " or ".join(alone) or " and ".join(together)


def _allowing(sweep: Sweep, regions: list[str]) -> Sweep:
    return sweep.model_copy(update={"where": sweep.where.model_copy(update={"regions": regions})})


def _only(market: Market, regions: list[str]) -> Market:
    """As if it had been formulation for these Regions alone."""
    return replace(market, candidates=market.candidates[market.candidates["region"].isin(regions)])


def _cheapest_first(formulation: Formulation) -> list[str]:
    """Regions, by what all tasks would cost there; where some cannot run, by how many can."""
    problem, region = formulation.offer.problem, formulation.offer.lanes["region"].to_numpy()
    codes, names = pd.factorize(region[problem.choices.lane], sort=True)
    usd = np.full((len(names), len(problem.counts)), np.inf)
    np.minimum.at(usd, (codes, problem.choices.cohort), problem.choices.usd)
    missing = (np.isinf(usd) * problem.counts).sum(axis=1)
    cost = (np.where(np.isinf(usd), 0, usd) * problem.counts).sum(axis=1)
    return [str(names[number]) for number in np.lexsort((cost, missing))]


def _has_room(formulation: Formulation, sweep: Sweep) -> bool:
    """Whether fluid tasks would fit. Far quicker to tell than whether there is a plan."""
    problem = formulation.offer.problem.within(sweep.plan.hours)
    there = formulation.offer.lanes["region"].isin(sweep.where.regions).to_numpy()
    only = replace(problem, choices=problem.choices.take(there[problem.choices.lane]))
    if only.stranded.size:
        return False
    shortfall = Shortfall(only)
    return float(shortfall.raises(np.zeros(len(shortfall.slots), dtype=bool)).max(initial=0.0)) < 1e-6


def _does(sweep: Sweep, market: Callable[[], Market]) -> bool:
    try:
        meet_goal(formulate(sweep, market()).offer.problem, sweep.plan)
    except (DoesNotFit, SweepError):
        return False
    return True
