"""Which platforms a sweep may use, as the settings set them up, and what they refuse of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import SettingsError, SpecError, did_you_mean
from orchestrator.plan.launcher_price import LAUNCHERS_A_VCPU
from orchestrator.platforms import registry
from orchestrator.platforms.base import Complaint
from orchestrator.settings.settings import read as read_settings
from orchestrator.spec.known_types import KnownTypes
from orchestrator.spec.reading.mistakes import find_mistakes
from orchestrator.spec.reading.reader import read
from orchestrator.spec.schema import schema as sweep_schema
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from orchestrator.platforms.base import Planning
    from orchestrator.settings.settings import Settings
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.shapes import Shape


class Rules:
    """The planning parts of all installed platforms, made from their tables of the settings, and what they refuse."""

    def __init__(self, settings: Settings, told: Callable[[], Mapping[str, Shape]] = dict) -> None:
        """Take the settings, and who says what instance types are made of that are newer than this code."""
        self._settings = settings
        self._told = told

    def planning(self, name: str) -> Planning:
        """Return the planning part of a platform.

        Raise UsageError when it is not installed, SettingsError with the file's name for what is wrong in its table.
        """
        try:
            return registry.make_planning(name, self._settings.platforms.get(name, {}))
        except SettingsError as error:
            where = [text for text in (self._settings.file_of(name), error.where) if text]
            raise SettingsError(error.message, where=": ".join(where), hint=error.hint) from error

    def all(self) -> dict[str, Planning]:
        """Return the planning parts of all installed platforms, by name."""
        return {name: self.planning(name) for name in registry.platforms()}

    @property
    def usual(self) -> tuple[str, ...]:
        """The platforms of a sweep that names none: those with a table in the settings, else the default one."""
        return tuple(sorted(self._settings.platforms)) or (registry.DEFAULT,)

    @property
    def launchers_at_once(self) -> int | None:
        """The launchers that Batch has room for, as [infra] of the settings says; None where there is no such table."""
        return self._settings.infra.max_vcpus * LAUNCHERS_A_VCPU if self._settings.infra_table else None

    def check(self, sweep: Sweep) -> None:
        """Raise SpecError for the first thing that one of its platforms cannot do of a sweep."""
        for complaint in self.complaints(sweep):
            raise SpecError(complaint.message, where=".".join(map(str, complaint.at)), hint=complaint.hint)

    def check_images(self, sweep: Sweep, images: Iterable[str]) -> None:
        """Raise SpecError for an image of a manifest's line that a platform cannot run, as if it were the sweep's."""
        for image in sorted(images):
            for name in sweep.where.platforms or self.usual:
                if not getattr(self.planning(name), "line_images", False):
                    hint = "leave the column out, or write a manifest for each image"
                    raise SpecError(f"{name} runs all tasks of a run in one image", where=f"image {image}", hint=hint)
            train = sweep.train.model_copy(update={"image": image, "framework": None})
            try:
                self.check(sweep.model_copy(update={"train": train}))
            except SpecError as error:
                raise SpecError(error.message, where=f"image {image} of the manifest", hint=error.hint) from error

    def complaints(self, sweep: Sweep) -> Iterator[Complaint]:
        """Yield what one of its platforms cannot do of a sweep, and platforms that it names but nobody installed.

        Raise SettingsError where it is the settings that do.
        """
        installed = registry.platforms()
        for name in self._settings.platforms.keys() - installed:
            where = [text for text in (self._settings.file_of(name), f"platforms.{name}") if text]
            message, hint = f"no platform {name!r} is installed", did_you_mean(name, list(installed))
            raise SettingsError(message, where=": ".join(where), hint=hint)
        named: dict[tuple[str | int, ...], str] = {("platforms", name): name for name in sweep.platforms}
        named |= {("where", "platforms", index): name for index, name in enumerate(sweep.where.platforms)}
        unknown = {at: name for at, name in named.items() if name not in installed}
        for at, name in unknown.items():
            yield Complaint(f"no platform {name!r} is installed", did_you_mean(name, list(installed)), at)
        if unknown:
            return
        used = sweep.where.platforms or self.usual
        yield from self._unknown_types(sweep, used)
        for name in used:
            yield from self.planning(name).check(sweep)
        if sweep.where.resources is not None:
            shapes = [*(self.planning(name).shapes for name in used), self._told()]
            for mistake in KnownTypes(shapes).mistakes(sweep):
                yield Complaint(mistake.message, mistake.hint, mistake.at)
        for name in sorted(sweep.platforms.keys() - set(used)):
            # Nobody uses it, and nobody would miss it: a mistake in it would stay until somebody does.
            at = ("platforms", name)
            for mistake in find_mistakes(self.planning(name).asks, sweep.platforms[name], at):
                yield Complaint(mistake.message, mistake.hint, mistake.at)

    def _unknown_types(self, sweep: Sweep, used: Sequence[str]) -> Iterator[Complaint]:
        """Yield the instance types that none of the platforms has which the sweep may use, however they are bought."""
        for index, name in enumerate(sweep.where.instance_types):
            refusals = [
                [self.planning(platform).refuses(Lane(platform, "", name, purchase)) for purchase in Purchase]
                for platform in used
            ]
            if refusals and all(all(each) for each in refusals):
                told = "; ".join(dict.fromkeys(each[0] for each in refusals))
                message = f"{name} is no instance type of {' or '.join(used)}: {told}"
                hint = "name their types, or another platform under where.platforms"
                yield Complaint(message, hint, ("where", "instance_types", index))


def schema() -> dict[str, Any]:
    """Return the JSON Schema of sweep.yaml, with what each installed platform takes."""
    return sweep_schema({name: registry.make_planning(name, {}).asks for name in registry.platforms()})


def read_sweep(
    path: str | Path, settings: Settings | None = None, told: Callable[[], Mapping[str, Shape]] = dict
) -> Sweep:
    """Return the sweep that a file describes, if its platforms can run it.

    The platforms are set up as the settings say: by default, those in force in the current folder. `told` says what
    instance types are made of that are newer than this code, as a catalog does. Raise SpecError at file:line:column for
    whatever is wrong.
    """
    return read(path, Rules(settings or read_settings(), told).complaints)
