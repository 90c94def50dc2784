"""The parameters of a sweep, with the places in the file at which their names and values stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.spec.space.axes import Choice, Zip, columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.spec.space.axes import Axis, Values
    from orchestrator.wire.task import Scalar


@dataclass(frozen=True)
class Parameter:
    """What every task gets as an option: a parameter of the space, or a hyperparameter."""

    name: str
    values: tuple[Any, ...]
    """The values that are written out in the file. Ranges and scales have none, for all of theirs are numbers."""
    at: tuple[str | int, ...]
    """The path to it in the sweep file."""

    def value_at(self, index: int) -> tuple[str | int, ...]:
        """Return the path to one of its values in the sweep file."""
        return self.at if self.at[0] == "train" else (*self.at, index)


def parameters(space: Mapping[str, Axis], hyperparameters: Mapping[str, Any]) -> Iterator[Parameter]:
    """Yield the parameters of the space, and then the hyperparameters, in the file's order."""
    for axis_name, axis in space.items():
        for name, values in columns(axis_name, axis).items():
            at = ("space", axis_name, "zip", name) if isinstance(axis, Zip) else ("space", name)
            yield Parameter(name, _written_out(values), at)
    for name, value in hyperparameters.items():
        yield Parameter(name, (value,), ("train", "hyperparameters", name))


def _written_out(values: Values) -> tuple[Scalar, ...]:
    return values.values if isinstance(values, Choice) else ()
