"""A plan's sources, packed as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from orchestrator.plan.plan import Plan
    from orchestrator.platforms.base import Planning
    from orchestrator.platforms.source import Package
    from orchestrator.spec.sweep import Sweep


def pack_sources(plan: Plan, planning: Callable[[str], Planning]) -> Package | None:
    """Return the sources as they are now; None when their folder is not here, as for a run resumed elsewhere."""
    return pack_sweep(plan.sweep, {platform for platform, _ in plan.sites}, planning, where=f"plan {plan.id}")


def pack_sweep(
    sweep: Sweep, platforms: Iterable[str], planning: Callable[[str], Planning], *, where: str
) -> Package | None:
    """Return the sources of a sweep that runs on these platforms; None when their folder is not here.

    Raise UsageError, which says `where`, for a folder outside the sweep's that nobody says is meant.
    """
    from orchestrator.platforms.source import pack, pack_no_code

    folder = sweep.source_folder
    ours = _ours(sweep, [planning(platform) for platform in platforms])
    if folder is None:
        return pack_no_code(ours)
    if not sweep.source_is_meant:
        raise UsageError(
            f"its source folder {sweep.train.source} lies outside the sweep's folder",
            where=where,
            hint="say `source_outside: true` in the sweep file if that is meant, and plan again",
        )
    if not folder.is_dir():
        return None
    beside = [(sweep.folder / name).resolve() for name in sweep.train.dependencies]
    return pack(folder, sweep.train.script, ours=ours, dependencies=beside)


def _ours(sweep: Sweep, planning: list[Planning]) -> tuple[Path, ...]:
    """Return the files of ours that the trainings need on these platforms."""
    from orchestrator.platforms.source import BARE, STARTER

    if any(getattr(one, "bare", False) for one in planning):
        return BARE
    return STARTER if any(one.needs_starter(sweep) for one in planning) else ()


def refuse_no_source(folder: Path | None) -> NoReturn:
    """Raise UsageError: the source folder is not there."""
    hint = "`train.source` names it"
    raise UsageError("there is no such source folder", where=str(folder), hint=hint)
