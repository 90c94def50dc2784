"""What the options before a command name: settings, the Orchestrator, a run."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pathlib import Path

    import typer

    from orchestrator.api import Learned, Models, Orchestrator, Run, Schedules, Settings, Sweep
    from orchestrator.errors import SweepError
    from orchestrator.infra.infra import Infra


@dataclass
class Session:
    """Holds the options before the command, and opens what they name on first use."""

    profile: str | None = None
    region: str | None = None
    database: str | None = None
    log_level: int = logging.WARNING

    @classmethod
    def of(cls, context: typer.Context) -> Session:
        """Return the session of the command that is running."""
        return cast("Session", context.obj)

    @cached_property
    def settings(self) -> Settings:
        """The settings in force. Raises SettingsError if one of them is wrong."""
        from orchestrator.api import read_settings

        given = {"profile": self.profile, "region": self.region, "database": self.database}
        return read_settings({name: value for name, value in given.items() if value is not None})

    @cached_property
    def orchestrator(self) -> Orchestrator:
        """The Orchestrator with these settings. From now on, its log goes to stderr."""
        from orchestrator.api import Orchestrator

        self._log_to_stderr()
        return Orchestrator(self.settings)

    @cached_property
    def models(self) -> Models:
        """The champions of these settings' workloads."""
        from orchestrator.api import Models

        return Models(self.orchestrator.cloud, self.settings.owner, self.orchestrator.catalog.mark)

    @cached_property
    def learned(self) -> Learned:
        """What runs have taught, and what people have said of it."""
        from orchestrator.api import Learned

        return Learned(self.orchestrator.catalog, self.orchestrator.ledger, self.settings.owner)

    def warmed(self, sweep: Sweep) -> Sweep:
        """Return the sweep with what it takes from its workload's champion, if it says so: then AWS is asked."""
        return self.models.warm(sweep) if sweep.warm_start else sweep

    def note_damage(self, error: SweepError) -> None:
        """Note a stored object that cannot be understood: the command names it at its end, with exit code 5."""
        self.orchestrator.ledger.damage.note(error)

    @cached_property
    def schedules(self) -> Schedules:
        """The schedules of these settings' control bucket. Raises SettingsError if the settings name none."""
        from orchestrator.api import Schedules

        return Schedules(self.orchestrator)

    @cached_property
    def infra(self) -> Infra:
        """The account's stacks, as these settings ask for them. From now on, its log goes to stderr."""
        from orchestrator.infra.infra import Infra

        self._log_to_stderr()
        return Infra(self.settings)

    def check_damage(self) -> None:
        """Raise Damaged if stored objects were left out. Nothing is raised where something else went wrong anyway."""
        if "orchestrator" in self.__dict__ and sys.exc_info()[0] is None:
            self.orchestrator.check_damage()

    def read_sweep(self, file: Path) -> Sweep:
        """Return the sweep that a file describes. Raises SpecError at file:line:column for whatever is wrong in it."""
        from orchestrator.api import read_sweep

        return read_sweep(file, self.settings, lambda: self.orchestrator.catalog.told_shapes())

    def _log_to_stderr(self) -> None:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_LogLine())
        logger = logging.getLogger("orchestrator")
        logger.handlers = [handler]
        logger.setLevel(self.log_level)


def open_run(context: typer.Context, name: str | None, *, no_sync: bool = False, documents: bool = True) -> Run:
    """Return the run of this name, or the newest. Unless `no_sync`, AWS's news of it are fetched first.

    Without `documents`, that is only what `status` shows.
    """
    run = Session.of(context).orchestrator.run(name)
    if not no_sync:
        run.sync_as_far_as_possible(documents=documents)
    return run


class _LogLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {record.getMessage()}"
