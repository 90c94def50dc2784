"""A linear or integer program for HiGHS: columns, blocks of rows, and always the same answer to the same program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from orchestrator.planner.model.solution import DoesNotFit, NotFound
from orchestrator.planner.model.time_limit import TimeLimit

if TYPE_CHECKING:
    import numpy.typing as npt

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers

    Bound = float | Floats

_PLAIN: dict[str, str | bool | int | float] = {
    "presolve": "off",
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
}
STEPS = 2**20
"""Steps that a slot's time, a budget or a pool is cut into, because HiGHS is exact for rows of whole numbers only. Its
presolve scales rows to whole numbers where they are near to some. An offset of less than its tolerances, such as a
factor of 1 + 1e-9, has made it drop the optimum and prove a bound that is none. Steps are rounded down, so no row bars
what is within its limit. What only seems to be is found when tasks are played, or their dollars added up."""
_INTEGER, _CONTINUOUS = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous


@dataclass(frozen=True)
class Entries:
    """The coefficients of a block of rows: for each, its row in the block, its column and its value."""

    row: Integers
    column: Integers
    value: Floats


@dataclass(frozen=True)
class Effort:
    """When to stop: limits that count nodes, and never seconds, so that the same program has the same answer."""

    gap: float = 1e-9
    """The part of the cost by which the answer may be dearer than the best."""
    nodes: int = 5_000
    """Nodes of the search that are looked at."""
    plain: bool = False
    """True to search without presolve, and without heuristics that solve whole programs of their own."""
    restarts: bool = True
    """True to begin anew where the search has fixed many columns: this may prove more, and takes longer."""


@dataclass(frozen=True)
class Answer:
    """The best values that were found for the columns, what they cost, and what is proven."""

    values: Floats
    usd: float
    bound: float
    """$ that all values cost at least: this is proven."""
    steps: int = 0
    """Steps that the simplex method took, in all linear programs of the search."""


class Program:
    """Minimises the cost of columns, within the bounds of rows.

    A column has a value from 0 to `upper`, a whole one if `whole` says so, and costs `usd` times that value.
    """

    def __init__(self, usd: Floats, upper: Floats, whole: Booleans) -> None:
        self._usd, self._upper, self._whole = usd, upper, whole
        self._entries: list[Entries] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []
        self.height = 0

    def add_rows(self, count: int, entries: Entries, low: Bound, high: Bound) -> None:
        """Add so many rows: each sum of coefficients times values must lie between its `low` and its `high`."""
        self._entries.append(Entries(entries.row + self.height, entries.column, entries.value))
        self._low.append(np.broadcast_to(np.float64(low), count))
        self._high.append(np.broadcast_to(np.float64(high), count))
        self.height += count

    def add_columns(self, count: int, upper: float) -> Integers:
        """Add so many whole columns that cost nothing. Return their numbers."""
        start = len(self._usd)
        self._usd = np.append(self._usd, np.zeros(count))
        self._upper = np.append(self._upper, np.full(count, upper))
        self._whole = np.append(self._whole, np.ones(count, dtype=bool))
        return np.arange(start, start + count)

    @property
    def size(self) -> int:
        """Its rows and columns: the time that a step of the simplex method takes grows with these."""
        return self.height + len(self._usd)

    def solve(self, effort: Effort | None = None, time_limit: TimeLimit | None = None) -> Answer:
        """Return the best answer that is found. DoesNotFit when there is no solution, NotFound when none was found."""
        effort, time_limit = effort or Effort(), time_limit or TimeLimit()
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in _options(effort).items():
            solver.setOptionValue(name, value)
        solver.setOptionValue("time_limit", time_limit.left)
        solver.passModel(self._model())
        solver.run()
        time_limit.stopped |= solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
        if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            proven = solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible
            raise DoesNotFit if proven else NotFound
        solution, info = solver.getSolution(), solver.getInfo()
        whole = bool(self._whole.any())
        return Answer(
            values=np.array(solution.col_value),
            usd=info.objective_function_value,
            bound=info.mip_dual_bound if whole else info.objective_function_value,
            steps=max(int(info.simplex_iteration_count), 0),
        )

    def _model(self) -> Any:
        row, column, value = (
            np.concatenate([getattr(entries, name) for entries in self._entries]) for name in ("row", "column", "value")
        )
        by_column = np.lexsort((row, column))
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self._usd), self.height
        model.col_cost_, model.col_lower_ = self._usd, np.zeros(len(self._usd))
        model.col_upper_ = np.minimum(self._upper, highspy.kHighsInf)
        model.row_lower_, model.row_upper_ = np.concatenate(self._low), np.concatenate(self._high)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.searchsorted(column[by_column], np.arange(len(self._usd) + 1)).astype(np.int32)
        model.a_matrix_.index_ = row[by_column].astype(np.int32)
        model.a_matrix_.value_ = value[by_column]
        if self._whole.any():
            model.integrality_ = [_INTEGER if whole else _CONTINUOUS for whole in self._whole.tolist()]
        return model


def _options(effort: Effort) -> dict[str, str | bool | int | float]:
    options: dict[str, str | bool | int | float] = {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "mip_rel_gap": effort.gap,
        "mip_abs_gap": 1e-9,
        "mip_max_nodes": effort.nodes,
        "mip_allow_restart": effort.restarts,
    }
    return options | _PLAIN if effort.plain else options


def number_keys(keys: npt.NDArray[Any]) -> tuple[int, Integers]:
    """Return how many different keys there are, and for each key its number among these, from 0 on."""
    unique, number = np.unique(keys, return_inverse=True)
    return len(unique), number.astype(np.int64)
