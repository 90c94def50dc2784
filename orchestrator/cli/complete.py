"""Offers the names of runs where a shell completes a word."""

from __future__ import annotations

from pathlib import Path

import typer

from orchestrator.errors import SweepError

_SQLITE = "sqlite:///"


def run_names(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of runs that begin so, newest first. Whatever is wrong offers none: nobody has asked yet."""
    from orchestrator.api import Orchestrator, read_settings

    given = {name: context.find_root().params.get(name) for name in ("profile", "region", "database")}
    try:
        settings = read_settings({name: value for name, value in given.items() if value is not None})
        file = settings.database.removeprefix(_SQLITE)
        if file != settings.database and not Path(file).is_file():
            return []  # completing a word makes no database
        names = Orchestrator(settings).ledger.names()
    except SweepError:
        return []
    return [name for name in names if name.startswith(incomplete)]
