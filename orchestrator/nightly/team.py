"""The Orchestrator of a night: with the settings that it was frozen with, on the catalog that it plans on."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from orchestrator.orchestrator import Orchestrator
from orchestrator.snapshots import Snapshots

if TYPE_CHECKING:
    from orchestrator.aws.s3 import S3
    from orchestrator.nightly.goal import Goal


class Team:
    """Opens the Orchestrator of a goal when it is first needed: nights with nothing to do need none."""

    def __init__(self, goal: Goal, s3: S3) -> None:
        self._goal = goal
        self._s3 = s3
        self._opened: Orchestrator | None = None
        self._folder: TemporaryDirectory[str] | None = None

    def open(self) -> Orchestrator:
        """Return it. CatalogError if no catalog was pushed that it could plan on."""
        if self._opened is None:
            self._opened = Orchestrator(self._goal.settings(self._goal.database or self._pulled()))
        return self._opened

    def _pulled(self) -> str:
        """Return the URL of the newest snapshot, on this machine for as long as this process lives."""
        self._folder = TemporaryDirectory(prefix="sweep-")
        file = Path(self._folder.name) / "catalog.db"
        Snapshots(self._s3).pull(file)
        return f"sqlite:///{file}"
