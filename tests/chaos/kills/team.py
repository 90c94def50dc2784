"""A team with two machines, on paper: each with a database, one account together, plans made beforehand."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

from orchestrator import Orchestrator, Plan, Settings, read
from orchestrator.db.engine import engine
from orchestrator.db.engine_rows import EngineRows
from orchestrator.localcloud.names import Access, environment
from orchestrator.settings.settings import read as read_settings
from tests.fixtures.team import REGIONS, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from tests.chaos.paper.hub import Actor

MACHINES = ("ours", "theirs")
SWEEP = """
name: paper
train:
  source: training
  entry_point: train.py
  image: "{{account}}.dkr.ecr.{{region}}.amazonaws.com/small:1"
  instances: {instances}
  metrics: {{loss: 'loss=([-+.0-9e]+)'}}
space:
  x: {{range: [1, {points}], step: 1}}
objective: {{minimize: loss}}
where:
  instance_types: [ml.c5.xlarge]
runtime: 0.01
timeout: 10m
patience: {patience}
retries: {retries}
"""
SHAPES = (
    {"points": 1, "instances": 1, "retries": 0, "patience": "1m", "slots": 0},
    {"points": 2, "instances": 1, "retries": 1, "patience": "10m", "slots": 0},
    {"points": 1, "instances": 2, "retries": 1, "patience": "1m", "slots": 2},
    {"points": 2, "instances": 1, "retries": 0, "patience": "5m", "slots": 1},
    {"points": 3, "instances": 1, "retries": 0, "patience": "5m", "slots": 2},
)
"""What is planned: so many points on two datasets, each in a Region of its own, with so many slots; 0 is any number."""


@dataclass
class Office:
    """What is there before any story: settings, an empty database with a catalog, plans.

    The two machines' engines are made here, once: what they have learned of our queries is worth more than all the rest
    of a story. Each opens its file in the folder of the story that is played.
    """

    folder: Path
    settings: Settings = field(init=False)
    plans: list[Plan] = field(default_factory=list)
    engines: dict[str, Engine] = field(init=False)

    def __post_init__(self) -> None:
        (self.folder / "training").mkdir(parents=True)
        (self.folder / "training" / "train.py").write_text("print('on paper')\n")
        (self.folder / "catalog").mkdir()
        for kind, lines in TABLES.items():
            (self.folder / "catalog" / f"{kind}.csv").write_text("\n".join(lines) + "\n")
        environ = {**environment(Access("http://nowhere", "", ""), REGIONS), "SWEEP_POLL_S": "60"}
        self.settings = read_settings(
            {"database": f"sqlite:///{self.folder / 'plans.db'}"}, folder=self.folder, environ=environ
        )
        catalog = Orchestrator(self.settings).catalog
        catalog.upgrade()
        catalog.load([self.folder / "catalog"])
        with closing(sqlite3.connect(self.folder / "plans.db")) as made:
            made.execute(f"VACUUM INTO '{self.folder / 'empty.db'}'")
        for shape in SHAPES:
            self.plans.append(self._plan(dict(shape)))
        self.engines = {machine: _engine(machine) for machine in MACHINES}

    def _plan(self, shape: dict[str, Any]) -> Plan:
        slots = shape.pop("slots")
        if slots:
            lines = [
                f"{region},ml.c5.xlarge,{buy},{slots},2026-11-01" for region in REGIONS for buy in ("on_demand", "spot")
            ]
            file = self.folder / "quotas.csv"
            file.write_text("\n".join(["region,instance_type,purchase,slots,observed_at", *lines]) + "\n")
            Orchestrator(self.settings).catalog.load([file])
        sweep = self.folder / "sweep.yaml"
        sweep.write_text(SWEEP.format(**shape))
        return Orchestrator(self.settings).plan(read(sweep))


@dataclass
class Team:
    """Two machines in one story."""

    office: Office
    folder: Path
    _left: list[Any] = field(default_factory=list)
    """What must not be closed here: somebody else still uses it."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        for machine in MACHINES:
            shutil.copy(self.office.folder / "empty.db", self.folder / f"{machine}.db")
        self._move_in()

    def orchestrator(self, machine: str) -> Orchestrator:
        """Return `sweep` as a new process on this machine has it."""
        made = Orchestrator(self.office.settings)
        its = self.office.engines[machine]
        made.database.__dict__.update(engine=its, _rows=EngineRows(its))
        return made

    def is_whole(self, actor: Actor) -> bool:
        """Return whether nobody but this actor is in the middle of a transaction."""
        others = (engine for machine, engine in self.office.engines.items() if machine != actor.machine)
        return all(engine.pool.checkedout() == 0 for engine in others)  # type: ignore[attr-defined]

    def split(self) -> None:
        """Go on with copies of the databases, as a disk has them after a crash."""
        folder = Path(tempfile.mkdtemp(prefix="child-", dir=self.folder.parent))
        for file in _databases(self.folder):
            shutil.copy(file, folder / file.name)
        self.folder = folder
        self._move_in()

    def leave(self) -> None:
        """Remove what this story has left on the disk."""
        os.chdir(self.office.folder)
        shutil.rmtree(self.folder)

    def _move_in(self) -> None:
        os.chdir(self.folder)
        for its in self.office.engines.values():
            self._left.append(its.pool)
            its.dispose(close=False)


def _engine(machine: str) -> Engine:
    """Return the engine of a machine, which opens the file in whatever folder this process is in by then."""
    made = engine(f"sqlite:///{machine}.db")

    @event.listens_for(made, "do_connect")
    def open_here(_: Any, __: Any, arguments: list[Any], ___: Any) -> None:
        arguments[0] = f"{machine}.db"

    return made


def _databases(folder: Path) -> Iterator[Path]:
    for machine in MACHINES:
        for ending in (".db", ".db-wal"):
            file = folder / f"{machine}{ending}"
            if file.exists():
                yield file
