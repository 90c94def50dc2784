"""A linear program that grows: it gets more columns and rows, and is solved again from its last solution."""

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
}
_DUAL, _PRIMAL = 1, 4


class IncrementalProgram:
    """Minimises the cost of columns, within the bounds of rows. Columns have values from 0 to their `upper`."""

    def __init__(self, dual: bool = False) -> None:
        """Begin without any. With `dual`, bounds may change quickly; else, what was feasible before columns came is."""
        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in _OPTIONS.items():
            self._solver.setOptionValue(name, value)
        self._solver.setOptionValue("simplex_strategy", _DUAL if dual else _PRIMAL)
        self.height = self.width = 0

    def add_rows(self, low: Floats, high: Floats, counts: Integers, column: Integers, value: Floats) -> Integers:
        """Add rows with these bounds, and return their numbers.

        `counts` says how many coefficients each row has. `column` and `value` list them, row after row.
        """
        self._solver.addRows(len(low), low, high, len(column), _starts(counts), column.astype(np.int32), value)
        self.height += len(low)
        return np.arange(self.height - len(low), self.height)

    def add_columns(self, usd: Floats, upper: Floats, counts: Integers, row: Integers, value: Floats) -> Integers:
        """Add columns with these costs and upper bounds, and return their numbers.

        `counts` says how many coefficients each column has. `row` and `value` list them, column after column.
        """
        zeros = np.zeros(len(usd))
        status = self._solver.addCols(
            len(usd), usd, zeros, upper, len(row), _starts(counts), row.astype(np.int32), value
        )
        if status == highspy.HighsStatus.kError:  # such as two coefficients of one row: HiGHS would go on without them
            raise ValueError("the solver takes none of these columns")
        self.width += len(usd)
        return np.arange(self.width - len(usd), self.width)

    def set_costs(self, column: Integers, usd: Floats) -> None:
        """Replace the costs of these columns."""
        self._solver.changeColsCost(len(column), column.astype(np.int32), usd)

    def set_column_bounds(self, column: Integers, upper: float) -> None:
        """Let these columns have values from 0 to this."""
        count = len(column)
        self._solver.changeColsBounds(count, column.astype(np.int32), np.zeros(count), np.full(count, upper))

    def set_upper_bounds(self, row: Integers, high: Floats) -> None:
        """Replace the upper bounds of these rows, and drop their lower ones."""
        for number, value in zip(row.tolist(), high.tolist(), strict=True):
            self._solver.changeRowBounds(number, -highspy.kHighsInf, value)

    def set_bounds(self, row: Integers, low: Floats, high: Floats) -> None:
        """Replace the bounds of these rows."""
        for number, least, most in zip(row.tolist(), low.tolist(), high.tolist(), strict=True):
            self._solver.changeRowBounds(number, least, most)

    def solve(self) -> tuple[float, Floats, Floats]:
        """Return the least cost, the values of the columns, and the duals of the rows. DoesNotFit if there is none.

        A row's dual is what one more of its bound would add to the cost.
        """
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
