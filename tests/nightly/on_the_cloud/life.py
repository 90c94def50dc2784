"""Lives of processes at the cloud's time. Each is a fork of one that has all modules loaded, so it begins at once.

A conductor's life is the one of `python -m orchestrator.nightly`; it ends with SIGKILL at each note for the first time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.loaders import create_loader

from orchestrator.aws.messages import sqs
from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.conductor.notes import Notes
from orchestrator.nightly.conduct import Conductor
from orchestrator.nightly.freeze import freeze
from orchestrator.nightly.goal import write_goal
from orchestrator.nightly.shelf import Entry, Shelf
from orchestrator.orchestrator import Orchestrator
from orchestrator.settings.settings import read as read_settings
from orchestrator.snapshots import Snapshots
from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from orchestrator.conductor.step import Action, Done

LONGEST_SLEEP_S = 0.2
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Where:
    """All that a process needs to know to live in this world."""

    folder: Path
    environment: Mapping[str, str]
    database: str
    """The URL of a shared database; empty where nights plan on pushed snapshots."""
    ahead: float = 0.0
    """Seconds by which the cloud's clock is ahead of this machine's."""
    schedule: str = "nightly"
    values: Mapping[str, Any] = field(default_factory=dict)
    """Settings beside those of the environment."""

    def begin(self) -> None:
        """Make this process live there: its environment, its time, and nobody sleeps long."""
        os.environ.update(self.environment)
        real_time, real_sleep = time.time, time.sleep
        time.time = lambda: real_time() + self.ahead
        time.sleep = lambda seconds: real_sleep(min(seconds, LONGEST_SLEEP_S))
        sqs._WAIT_S = 0  # this cloud's queues need no waiting for

    def team(self) -> Orchestrator:
        database = self.database or f"sqlite:///{self.folder / 'person.db'}"
        given = {"database": database, **self.values}
        return Orchestrator(read_settings(given, folder=self.folder, environ=dict(os.environ)))

    def control(self) -> S3:
        return S3(Clients(), os.environ["SWEEP_REGION"], os.environ["SWEEP_BUCKET"])


def load(where: Where) -> None:
    """Load the catalog's files, and push them if nobody shares a database."""
    team = where.team()
    team.catalog.upgrade()
    team.catalog.load([where.folder / "catalog"])
    if not where.database:
        Snapshots(where.control()).push(team.catalog, "ada")


def schedule(where: Where, body: Mapping[str, Any]) -> None:
    """Freeze the sweep as it is now, as `sweep schedule create` and `update` do."""
    sweep = Sweep.model_validate({**body, "folder": where.folder})
    when = sweep.schedule
    assert when is not None
    frozen = freeze(where.team(), sweep, when, where.schedule)
    write_goal(where.control(), frozen.goal, frozen.package)
    shelf = Shelf(where.control())
    if not shelf.create(Entry(where.schedule, frozen.goal.digest, time.time(), time.time(), "ada")):
        shelf.change(where.schedule, goal=frozen.goal.digest)


def conduct(where: Where, by: str, after_act: bool) -> None:
    """Conduct what is due, and die at the first note of each night that nobody has died at."""
    _die_at_notes(where.folder / "deaths", after_act=after_act)
    for _ in Conductor(where.control(), where.schedule, _Time()).tick(by):
        pass


class _Time:
    """The time as this process has it."""

    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def _die_at_notes(deaths: Path, *, after_act: bool) -> None:
    """Have this process killed when a note was put, or when it was acted on and nobody has written that down."""
    begin, finish = Notes.begin, Notes.finish

    def die(notes: Notes, number: int) -> None:
        line = f"{notes.prefix} {number}"
        if deaths.exists() and line in deaths.read_text().splitlines():
            return
        with deaths.open("a") as file:
            file.write(f"{line}\n")
        os.kill(os.getpid(), signal.SIGKILL)

    def beginning(notes: Notes, number: int, action: Action, now: float) -> bool:
        put = begin(notes, number, action, now)
        if not after_act:
            die(notes, number)
        return put

    def finishing(notes: Notes, number: int, done: Done) -> bool:
        if after_act:
            die(notes, number)
        return finish(notes, number, done)

    Notes.begin, Notes.finish = beginning, finishing  # type: ignore[method-assign]


def live(what: Callable[..., None], where: Where, *arguments: Any) -> bool:
    """Do something in a process of its own. Return False if it was killed there; a failure is an AssertionError."""
    process = _nursery().Process(target=_begin, args=(what, where, arguments))
    process.start()
    process.join(PATIENCE_S)
    if process.is_alive():
        process.kill()
        raise AssertionError(f"{what.__name__} does not end")
    if process.exitcode == -signal.SIGKILL:
        return False
    assert process.exitcode == 0, f"{what.__name__} failed: its words are in stderr"
    return True


def _begin(what: Callable[..., None], where: Where, arguments: tuple[Any, ...]) -> None:
    where.begin()
    what(where, *arguments)
    sys.stderr.flush()


@cache
def _nursery() -> Any:
    """Return what makes new processes, as forks of one in which this module is loaded."""
    nursery = multiprocessing.get_context("forkserver")
    nursery.set_forkserver_preload([__name__, "sqlalchemy.dialects.postgresql", "sqlalchemy.dialects.sqlite"])
    return nursery


# Read AWS's long descriptions of its services once for all forks.
botocore.session.create_loader = cache(create_loader)
for _service in ("s3", "batch", "sagemaker", "sts", "logs"):
    botocore.session.get_session().create_client(
        _service, "us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
