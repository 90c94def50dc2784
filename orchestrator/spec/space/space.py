"""The space: every assignment of the parameters, addressed by a number.

Numbers run like an odometer: the first axis turns slowest. Size parameters, those that the runtime depends on, are put
first, so points that take equally long have neighbouring numbers. Among equals, axes go by their names: a number means
the same whatever the order in the file, which a plan kept as JSON does not remember.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from orchestrator.spec.space.axes import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.spec.space.axes import Axis, Values
    from orchestrator.wire.task import Scalar


@dataclass(frozen=True)
class _Dial:
    """One axis of the odometer: a parameter, or several zipped."""

    columns: dict[str, Values]

    @cached_property
    def count(self) -> int:
        """The number of values that each parameter of this axis has."""
        return next(iter(self.columns.values())).count


class Space:
    """A sweep's points. It holds its axes only: a space of 10^9 points costs nothing."""

    def __init__(
        self,
        axes: Mapping[str, Axis],
        runtime_names: Iterable[str] = (),
        beside: Mapping[str, Scalar] | None = None,
    ) -> None:
        """Number the points of these axes.

        `runtime_names` are the names that the runtime depends on. Those that are no parameters of an axis are ignored.
        The values `beside` the combinations make one more point for each combination of size parameters, the last,
        unless they are one of them or say nothing of a parameter.
        """
        dials = [_Dial(columns(name, axes[name])) for name in sorted(axes)]
        wanted = set(runtime_names)
        slow = [dial for dial in dials if wanted & dial.columns.keys()]
        fast = [dial for dial in dials if not wanted & dial.columns.keys()]
        self._slow, self._fast = slow, fast
        self._beside = _one_more(fast, beside or {})
        self.parameters: tuple[str, ...] = tuple(name for axis in axes for name in columns(axis, axes[axis]))
        """The names of all parameters, in the file's order."""
        self.size_parameters: tuple[str, ...] = tuple(name for name in self.parameters if name in wanted)
        """The parameters that the runtime depends on, in the file's order."""

    @cached_property
    def sizes(self) -> int:
        """The number of combinations of size parameters."""
        return prod(dial.count for dial in self._slow)

    @cached_property
    def points_per_size(self) -> int:
        """The number of points that share one combination of size parameters."""
        return prod(dial.count for dial in self._fast) + bool(self._beside)

    def __len__(self) -> int:
        return self.sizes * self.points_per_size

    def point(self, number: int) -> dict[str, Scalar]:
        """Return the assignment with this number, its parameters in the file's order."""
        if not 0 <= number < len(self):
            raise IndexError(f"point {number} of {len(self)}")
        size, rest = divmod(number, self.points_per_size)
        found = _decode(self._slow, size) | (self._beside if self.is_beside(number) else _decode(self._fast, rest))
        return {name: found[name] for name in self.parameters}

    def is_beside(self, number: int) -> bool:
        """Return whether the point of this number is none of the axes' combinations, but beside them."""
        return bool(self._beside) and (number + 1) % self.points_per_size == 0

    def size(self, number: int) -> dict[str, Scalar]:
        """Return the size parameters that points number·points_per_size .. (number+1)·points_per_size-1 share."""
        found = _decode(self._slow, number)
        return {name: found[name] for name in self.size_parameters}

    def size_values(self, name: str) -> tuple[list[Scalar], int]:
        """Return a size parameter's values, and for how many sizes in a row each holds."""
        repeats = self.sizes
        for dial in self._slow:
            repeats //= dial.count
            if name in dial.columns:
                return [dial.columns[name].at(turn) for turn in range(dial.count)], repeats
        raise KeyError(name)


def _one_more(dials: list[_Dial], values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return those of the values that make a point beside these dials' combinations; nothing if they make none."""
    names = [name for dial in dials for name in dial.columns]
    if any(name not in values for name in names):
        return {}
    if all(any(_is_at(dial, turn, values) for turn in range(dial.count)) for dial in dials):
        return {}
    return {name: values[name] for name in names}


def _is_at(dial: _Dial, turn: int, values: Mapping[str, Scalar]) -> bool:
    """Return whether a dial has these values there. true is not 1."""
    found = ((column.at(turn), values[name]) for name, column in dial.columns.items())
    return all(one == other and isinstance(one, bool) == isinstance(other, bool) for one, other in found)


def _decode(dials: list[_Dial], number: int) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for dial in reversed(dials):
        number, turn = divmod(number, dial.count)
        for name, values in dial.columns.items():
            found[name] = values.at(turn)
    return found
