"""What the global options name, opened on first use."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import typer

    from orchestrator.api import Orchestrator, Run, Settings


@dataclass
class Session:
    profile: str | None = None
    region: str | None = None
    database: str | None = None
    log_level: int = logging.WARNING

    @classmethod
    def of(cls, context: typer.Context) -> Session:
        return cast("Session", context.obj)

    @cached_property
    def settings(self) -> Settings:
        from orchestrator.api import read_settings

        given = {"profile": self.profile, "region": self.region, "database": self.database}
        return read_settings({name: value for name, value in given.items() if value is not None})

    @cached_property
    def orchestrator(self) -> Orchestrator:
        from orchestrator.api import Orchestrator

        self._log()
        return Orchestrator(self.settings)

    def _log(self) -> None:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Lines())
        ours = logging.getLogger("orchestrator")
        ours.handlers = [handler]
        ours.setLevel(self.log_level)


def fresh(context: typer.Context, name: str | None, *, no_sync: bool = False) -> Run:
    """The run of this name, or the newest, with AWS's news of it."""
    run = Session.of(context).orchestrator.run(name)
    if not no_sync:
        run.sync()
    return run


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {record.getMessage()}"
