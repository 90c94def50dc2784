"""The folder of one local cloud: it shows who serves it, where, and what a crash left behind.

server.lock   held, as a file lock, by the server while it lives
server.json   its process, its endpoint and its key, for its owner's eyes; stale when the lock is free
work/         the folders of running processes
scratch       a link to their /tmp, whose own name must be short

A server that ends leaves only the lock.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.machines.processes import HOME_VARIABLE
from orchestrator.localcloud.names import Access

if TYPE_CHECKING:
    from collections.abc import Iterator

_GLANCE_S = 0.2
"""Seconds that are longer than anyone who only looks holds the lock."""


@dataclass(frozen=True)
class Serving:
    """A server that runs, as it announces itself."""

    pid: int
    endpoint: str
    regions: list[str]
    empty: bool = False
    """True when the account had nothing when the server started."""
    trainings: str = ""
    """A sentence on how trainings are started, if not as usual."""
    key_id: str = ""
    secret: str = field(default="", repr=False)
    page: str = ""
    """The address of the page that shows it, with the word that opens the page and nothing else."""

    @property
    def access(self) -> Access:
        """The way in, for whoever may use it."""
        return Access(self.endpoint, self.key_id, self.secret)

    @classmethod
    def read(cls, text: str) -> Serving:
        """Return what a server has announced. Raise ValueError for what is no announcement."""
        said = json.loads(text)
        try:
            return cls(**{each.name: said[each.name] for each in fields(cls) if each.name in said})
        except TypeError as error:
            raise ValueError(f"no server has said so: {error}") from error


class Home:
    """The folder of one local cloud."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.work = self.folder / "work"
        self._lock = self.folder / "server.lock"
        self._record = self.folder / "server.json"
        self._scratch = self.folder / "scratch"

    # The server's side

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Be the server of this home while a block runs. Raise LocalCloudError, which says who is, when another is."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LocalCloudError(f"cannot write to {self.folder}: {error.strerror}") from error
        if not _acquire(lock, patience_s=_GLANCE_S):
            serving = self.serving()
            where = f" at {serving.endpoint} (process {serving.pid})" if serving else ""
            raise LocalCloudError(
                f"a local cloud already runs in {self.folder}{where}: `sweep local status` prints what leads there"
            )
        try:
            self._clean()
            self.work.mkdir(mode=0o700)
            yield
        finally:
            self._clean()
            os.close(lock)

    def scratch(self) -> Path:
        """Make a new folder with a short name. A link leads the next server to it, should this one crash."""
        folder = Path(tempfile.mkdtemp(prefix="lc-"))
        self._scratch.symlink_to(folder)
        return folder

    def announce(self, serving: Serving) -> None:
        """Write down who serves this home, and where."""
        draft = self._record.with_suffix(".new")
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(asdict(serving)))
        draft.replace(self._record)

    # Everyone's side

    def serving(self) -> Serving | None:
        """Return who serves this home; None when nobody does, whatever the record says."""
        if not self._held():
            return None
        try:
            return Serving.read(self._record.read_text())
        except (OSError, ValueError):  # it is about to, or about to go
            return None

    def end(self, patience_s: float = 15.0) -> bool:
        """Stop the server and all it started. Return False when nobody served."""
        serving = self.serving()
        if serving:
            os.kill(serving.pid, signal.SIGTERM)
            self._await_end(patience_s)
            if self._held():
                os.kill(serving.pid, signal.SIGKILL)
                self._await_end(patience_s)
        if not self._held():
            self._clean()
        return serving is not None

    def _await_end(self, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while self._held() and time.monotonic() < deadline:
            time.sleep(0.02)

    def _held(self) -> bool:
        """Return True while a server holds the lock."""
        try:
            lock = os.open(self._lock, os.O_RDWR)
        except OSError:
            return False
        try:
            return not _acquire(lock, patience_s=0)
        finally:
            os.close(lock)

    # What is left

    def _clean(self) -> None:
        """Remove all that a server of this home made; after a crash, all that it left."""
        self._kill_leftovers()
        self._record.unlink(missing_ok=True)
        if self._scratch.is_symlink():
            shutil.rmtree(self._scratch.readlink(), ignore_errors=True)
            self._scratch.unlink()
        shutil.rmtree(self.work, ignore_errors=True)

    def _kill_leftovers(self) -> None:
        """Kill the processes that a crashed server started. The mark in their environment gives them away."""
        mark = f"{HOME_VARIABLE}={self.folder}".encode()
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in entry.read_bytes().split(b"\0"):
                    os.kill(int(entry.parent.name), signal.SIGKILL)
            except OSError:  # another user's, or just gone
                continue


def _acquire(lock: int, patience_s: float) -> bool:
    """Take a file lock. Return False when another holds it for longer than our patience."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True
