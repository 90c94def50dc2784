"""Which copies are made: all costs about as little as with the best of all sets. Duals never say too little."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.solver.columns import Columns, build_columns
from orchestrator.planner.solver.copies.choose_copies import choose_copies
from orchestrator.planner.solver.copies.decide_copies import decide_copies
from orchestrator.planner.solver.copies.set_program import CopySet, SetProgram
from orchestrator.planner.solver.program import Effort, Entries, Program
from orchestrator.planner.solver.sifting import Sifting
from tests.planner.solver.problems import random_problem


def relaxation(seed: int) -> Columns:
    """Return the relaxation of four datasets in four Regions: eight copies that could be made."""
    problem = random_problem(seed, cohorts=4, tasks=100)
    return build_columns(problem, commodities(problem))


def cost(columns: Columns, copies: CopySet) -> float:
    """Return what all costs with these copies: a program of its own, from the docs. inf if not everything fits."""
    copy_of = np.append(columns.copy_of, NO_COPY)[columns.link]
    upper = np.isin(copy_of, [NO_COPY, *copies]).astype(float)
    program = Program(columns.usd, upper, np.zeros(len(columns), dtype=bool))
    every = np.arange(len(columns))
    program.add_rows(len(columns.starts), Entries(columns.commodity, every, np.ones(len(every))), 1.0, 1.0)
    usage = columns.usage
    program.add_rows(columns.limit_count, Entries(usage.limit, usage.column, usage.part), -np.inf, 1.0)
    return program.solve(Effort()).usd + float(columns.charges[sorted(copies)].sum())


def all_sets(columns: Columns) -> list[CopySet]:
    some = sorted({int(copy) for copy in columns.copy_of})
    return [frozenset(each) for each in chain.from_iterable(combinations(some, n) for n in range(len(some) + 1))]


@pytest.mark.parametrize("seed", range(3))
def test_a_set_program_tells_what_each_set_of_copies_costs(seed: int) -> None:
    columns = relaxation(seed)
    program = SetProgram(columns, np.arange(len(columns)))
    some = all_sets(columns)[:: 1 + 2 * seed][:40]
    complete = [copies for copies in some if program.is_complete(copies)]
    assert len(complete) > 10
    for copies in complete:
        assert program.usd(copies) == pytest.approx(cost(columns, copies))


@pytest.mark.parametrize("seed", range(3))
def test_what_duals_say_of_one_copy_more_or_less_is_never_too_little(seed: int) -> None:
    columns = relaxation(seed)
    program = SetProgram(columns, np.arange(len(columns)))
    for copies in all_sets(columns)[::20]:
        prices = program.prices(copies)
        for other in {int(copy) for copy in columns.copy_of} - copies:
            assert program.usd(copies | {other}) >= prices.usd - prices.gain[other] - 1e-6
        for copy in copies:
            assert program.usd(copies - {copy}) >= prices.usd + prices.loss[copy] - 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_the_set_that_is_found_is_as_good_as_the_best_of_all(seed: int) -> None:
    columns = relaxation(seed)
    sifting = Sifting(columns)
    sifted = sifting.solve(TimeLimit())
    parts = np.zeros(len(columns))
    parts[sifted.columns] = sifted.parts
    found, usd = choose_copies(columns, sifting.costs, parts, sifted.bound, TimeLimit())[0]
    program = SetProgram(columns, np.arange(len(columns)))
    best = min(program.usd(copies) for copies in all_sets(columns))
    assert usd == pytest.approx(cost(columns, found))
    assert best - 1e-6 <= usd <= best * 1.001


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_all_copies_is_below_what_the_best_set_costs_and_near_it(seed: int) -> None:
    problem = random_problem(seed, cohorts=4, tasks=100)
    columns = build_columns(problem, commodities(problem))
    program = SetProgram(columns, np.arange(len(columns)))
    best = min(program.usd(copies) for copies in all_sets(columns))
    assert best * 0.999 <= decide_copies(problem, TimeLimit())[0].proof.bound <= best * (1 + 1e-9)
