"""Freezes what a sweep file, its code and its query say now into a goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import make_url

from orchestrator import files
from orchestrator.errors import SpecError, UsageError
from orchestrator.nightly.goal import Goal, settings_body
from orchestrator.sources import pack_sweep, refuse_no_source
from orchestrator.spec.schedule.schedule import Query

if TYPE_CHECKING:
    from orchestrator.orchestrator import Orchestrator
    from orchestrator.platforms.source import Package
    from orchestrator.spec.schedule.schedule import Schedule
    from orchestrator.spec.sweep import Sweep


@dataclass(frozen=True)
class Frozen:
    """A goal with its sources, not yet written down."""

    goal: Goal
    package: Package


def freeze(team: Orchestrator, sweep: Sweep, when: Schedule, name: str) -> Frozen:
    """Return what nights of this name would do: exactly this sweep, with the code and the settings as they are now.

    Raise SpecError or UsageError for what cannot be frozen, such as a query that cannot be read, or a shared database
    whose URL has a password: passwords are stored nowhere.
    """
    platforms = sweep.where.platforms or team.rules.usual
    package = pack_sweep(sweep, platforms, team.planning, where=f"sweep {sweep.name}")
    if package is None:
        refuse_no_source(sweep.source_folder)
    goal = Goal(
        schedule=name,
        sweep_body=sweep.model_copy(update={"schedule": None}).model_dump(mode="json"),
        when_body=when.model_dump(mode="json"),
        code=package.digest,
        names=package.files,
        query=_query(sweep, when),
        settings_body=settings_body(team.settings),
        database=_shared(team.settings.database),
    )
    return Frozen(goal, package)


def _query(sweep: Sweep, when: Schedule) -> str:
    """Return the text of the query that names the datasets; empty without one."""
    if not isinstance(when.retrain, Query):
        return ""
    file = sweep.folder / when.retrain.query
    try:
        text = files.read(file).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {getattr(error, 'strerror', error)}", where=str(file)) from error
    if not text.lower().startswith(("select", "with")):
        raise SpecError("is no SELECT", where=str(file), hint="SELECT dataset FROM datasets WHERE …")
    return text


def _shared(url: str) -> str:
    """Return the URL of a database that a job elsewhere reaches too; empty for a file of this machine."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        return ""
    if address.password:
        raise UsageError(
            "its URL has a password, which would be stored in the control bucket",
            where="database",
            hint="let the conductor sign in without one, as IAM does, or plan on what `sweep catalog push` wrote",
        )
    return url


def describe_changes(old: Goal, new: Goal) -> list[str]:
    """Return in words what changes from one goal to another, a line each; nothing if nothing does."""
    lines = []
    parts = (("sweep", "sweep_body"), ("schedule", "when_body"), ("settings", "settings_body"))
    for title, name in parts:
        lines += _differences(title, getattr(old, name), getattr(new, name))
    if old.code != new.code:
        gone, came = sorted(set(old.names) - set(new.names)), sorted(set(new.names) - set(old.names))
        said = [*(f"-{name}" for name in gone), *(f"+{name}" for name in came)]
        files = f" ({' '.join(said)})" if said else ""
        lines.append(f"code: {old.code[:12]} → {new.code[:12]}{files}")
    if old.query != new.query:
        lines.append("schedule.retrain.query: the text of the query is another one")
    if old.database != new.database:
        lines.append(f"database: {old.database or 'pushed snapshots'} → {new.database or 'pushed snapshots'}")
    return lines


def _differences(path: str, old: Any, new: Any) -> list[str]:
    """Return what differs between two JSON values, a line for each leaf."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = dict.fromkeys([*old, *new])
        return [line for name in names for line in _differences(f"{path}.{name}", old.get(name), new.get(name))]
    return [] if old == new else [f"{path}: {_shown(old)} → {_shown(new)}"]


def _shown(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
