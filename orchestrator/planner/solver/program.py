"""A linear or integer program for HiGHS: columns, blocks of rows, and always the same answer to the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.model.time_limit import TimeLimit

if TYPE_CHECKING:
    import numpy.typing as npt

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers

    Bound = float | Floats

_INTEGER, _CONTINUOUS = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous


@dataclass(frozen=True)
class Entries:
    """The coefficients of a block of rows: which row of the block, which column, which value."""

    row: Integers
    column: Integers
    value: Floats


@dataclass(frozen=True)
class Effort:
    """When to stop: limits that count nodes, and never seconds."""

    gap: float = 1e-9
    nodes: int = 5_000


@dataclass(frozen=True)
class Answer:
    values: Floats
    usd: float
    bound: float
    """Nothing costs less."""
    reduced: Floats
    """What each column would add to the cost; of a program without whole columns."""
    duals: Floats
    """What one more of each row's bound would add to the cost."""


class Program:
    """Minimises the cost of columns that are at least 0."""

    def __init__(self, usd: Floats, upper: Floats, whole: Booleans) -> None:
        self._usd, self._upper, self._whole = usd, upper, whole
        self._entries: list[Entries] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []
        self.height = 0

    def rows(self, count: int, entries: Entries, low: Bound, high: Bound) -> None:
        self._entries.append(Entries(entries.row + self.height, entries.column, entries.value))
        self._low.append(np.broadcast_to(np.float64(low), count))
        self._high.append(np.broadcast_to(np.float64(high), count))
        self.height += count

    def columns(self, count: int, upper: float) -> Integers:
        """More whole columns, free of charge; their numbers."""
        start = len(self._usd)
        self._usd = np.append(self._usd, np.zeros(count))
        self._upper = np.append(self._upper, np.full(count, upper))
        self._whole = np.append(self._whole, np.ones(count, dtype=bool))
        return np.arange(start, start + count)

    def solve(self, effort: Effort | None = None, time_limit: TimeLimit | None = None) -> Answer:
        """DoesNotFit when there is no solution, or none was found."""
        effort, time_limit = effort or Effort(), time_limit or TimeLimit()
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in _options(effort).items():
            solver.setOptionValue(name, value)
        solver.setOptionValue("time_limit", time_limit.left)
        solver.passModel(self._model())
        solver.run()
        time_limit.stopped |= solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
        if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            raise DoesNotFit
        solution, info = solver.getSolution(), solver.getInfo()
        whole = bool(self._whole.any())
        return Answer(
            values=np.array(solution.col_value),
            usd=info.objective_function_value,
            bound=info.mip_dual_bound if whole else info.objective_function_value,
            reduced=np.array(solution.col_dual),
            duals=np.array(solution.row_dual),
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
    return {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "mip_rel_gap": effort.gap,
        "mip_abs_gap": 1e-9,
        "mip_max_nodes": effort.nodes,
    }


def numbered(keys: npt.NDArray[Any]) -> tuple[int, Integers]:
    """How many different keys there are, and the number of each."""
    unique, number = np.unique(keys, return_inverse=True)
    return len(unique), number.astype(np.int64)
