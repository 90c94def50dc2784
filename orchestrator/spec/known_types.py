"""Instance types that are known by what they are made of: those of AWS, and those that platforms bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import did_you_mean
from orchestrator.spec.model import shown
from orchestrator.spec.reading.mistakes import Mistake
from orchestrator.spec.resources import Resources, matches
from orchestrator.wire.shapes import gpu_names, machine, shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.shapes import Shape


class KnownTypes:
    """Finds the types that have what `where.resources` asks for. Nothing is guessed of a type that nobody knows."""

    def __init__(self, of_platforms: Iterable[Mapping[str, Shape]] = ()) -> None:
        """Take the shapes that platforms bring, each by its type's name. Of two for a name, the first holds."""
        self._own: dict[str, Shape] = {}
        for shapes in of_platforms:
            self._own = {**shapes, **self._own}

    def shape(self, name: str) -> Shape | None:
        """Return what a type is made of; None for a type that nobody knows."""
        return self._own.get(name) or self._own.get(machine(name)) or shape(name)

    @property
    def gpu_names(self) -> list[str]:
        """The names of all GPUs of known types, in order."""
        brought = {known.chip.name for known in self._own.values() if known.chip is not None and known.gpus}
        return sorted(brought.union(gpu_names()))

    def having(self, resources: Resources, candidates: Iterable[str]) -> list[str]:
        """Return those of these instance types that have all that is asked for, in their order."""
        shapes = ((name, self.shape(name)) for name in candidates)
        return [name for name, known in shapes if known is not None and matches(known, resources)]

    def missing(self, resources: Resources, candidates: Iterable[str]) -> str:
        """Return in the file's words what none of these types has: one line of the resources, or all lines together."""
        names = list(candidates)
        for key, value in resources.asked.items():
            alone = Resources.model_validate({key: value})
            if not self.having(alone, names):
                return str(alone)
        return str(resources)

    def mistakes(self, sweep: Sweep) -> Iterator[Mistake]:
        """Yield what is wrong with resources: GPUs that nobody knows, and types that have not what is asked for."""
        resources, names = sweep.where.resources, sweep.as_written().where.instance_types
        if resources is None:
            return
        known = {name.lower() for name in self.gpu_names}
        unknown = [(index, name) for index, name in enumerate(resources.gpu) if name.lower() not in known]
        for index, name in unknown:
            nearest = did_you_mean(name.upper(), self.gpu_names)
            yield Mistake(f"no GPU is known as {shown(name)}", nearest, ("where", "resources", "gpu", index))
        if unknown:
            return
        if names and not self.having(resources, names):
            yield Mistake(
                f"none of the instance types has {self.missing(resources, names)}",
                "ask for less, or leave out one of resources and instance_types",
                ("where", "resources"),
            )
        for name in () if names else filter(None, sweep.runtimes):
            if not self.having(resources, [name]):
                message = f"{name} has not what where.resources asks for"
                yield Mistake(message, "leave the line out", ("runtime", name), of_key=True)
