"""A linear program that gets more columns and rows, and is solved from where it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import highspy
import numpy as np

from orchestrator.planner.model.solution import DoesNotFit

if TYPE_CHECKING:
    import numpy.typing as npt

    from orchestrator.planner.model.arrays import Floats, Integers
_OPTIONS: dict[str, str | bool | int] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "presolve": "off",
    "simplex_strategy": 4,  # primal: what was feasible before columns came stays so
}


class IncrementalProgram:
    def __init__(self) -> None:
        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in _OPTIONS.items():
            self._solver.setOptionValue(name, value)
        self.height = self.width = 0

    def rows(self, low: Floats, high: Floats, counts: Integers, column: Integers, value: Floats) -> Integers:
        """`counts`: entries of each row, one after the other in `column` and `value`. Their numbers."""
        self._solver.addRows(len(low), low, high, len(column), _starts(counts), column.astype(np.int32), value)
        self.height += len(low)
        return np.arange(self.height - len(low), self.height)

    def columns(self, usd: Floats, upper: Floats, counts: Integers, row: Integers, value: Floats) -> Integers:
        """The same."""
        zeros = np.zeros(len(usd))
        self._solver.addCols(len(usd), usd, zeros, upper, len(row), _starts(counts), row.astype(np.int32), value)
        self.width += len(usd)
        return np.arange(self.width - len(usd), self.width)

    def cost(self, column: Integers, usd: Floats) -> None:
        self._solver.changeColsCost(len(column), column.astype(np.int32), usd)

    def limit_to(self, row: Integers, high: Floats) -> None:
        for number, value in zip(row.tolist(), high.tolist(), strict=True):
            self._solver.changeRowBounds(number, -highspy.kHighsInf, value)

    def solve(self) -> tuple[float, Floats, Floats]:
        """Its cost, its columns, and what one more of each row would add."""
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise DoesNotFit
        solution = self._solver.getSolution()
        return (
            float(self._solver.getInfo().objective_function_value),
            np.array(solution.col_value),
            np.array(solution.row_dual),
        )


def _starts(counts: Integers) -> npt.NDArray[np.int32]:
    return (np.cumsum(counts) - counts).astype(np.int32)
