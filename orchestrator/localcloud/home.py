"""The folder of one local cloud: who serves it, where, and what a crash left behind.

server.lock   held, as a file lock, by the server while it lives
server.json   its process and its endpoint; stale when the lock is free
work/         the folders of running processes
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.processes import HOME_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Serving:
    """A server that runs."""

    pid: int
    endpoint: str
    regions: list[str]


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.work = self.folder / "work"
        self._record = self.folder / "server.json"

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Be the server of this home, or say who is."""
        try:
            self.work.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.folder / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LocalCloudError(f"cannot write to {self.folder}: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            serving = self.serving()
            where = f" at {serving.endpoint} (process {serving.pid})" if serving else ""
            raise LocalCloudError(f"a local cloud already runs in {self.folder}{where}") from None
        try:
            self.kill_leftovers()
            yield
        finally:
            self._record.unlink(missing_ok=True)
            os.close(lock)

    def announce(self, serving: Serving) -> None:
        draft = self._record.with_suffix(".new")
        draft.write_text(json.dumps(asdict(serving)))
        draft.replace(self._record)

    def serving(self) -> Serving | None:
        """Who serves this home; None when nobody does, whatever the record says."""
        if not self._held():
            return None
        try:
            return Serving(**json.loads(self._record.read_text()))
        except (OSError, ValueError):  # it is about to, or about to go
            return None

    def end(self, patience_s: float = 15.0) -> bool:
        """Stop the server and all it started; False when nobody served."""
        serving = self.serving()
        if serving:
            os.kill(serving.pid, signal.SIGTERM)
            deadline = time.monotonic() + patience_s
            while self._held() and time.monotonic() < deadline:
                time.sleep(0.02)
            if self._held():
                os.kill(serving.pid, signal.SIGKILL)
        self.kill_leftovers()
        return serving is not None

    def kill_leftovers(self) -> None:
        """Processes that a crashed server of this home started, found by the marker in their environment."""
        marker = f"{HOME_VARIABLE}={self.folder}".encode()
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if marker in entry.read_bytes().split(b"\0"):
                    os.kill(int(entry.parent.name), signal.SIGKILL)
            except (OSError, ProcessLookupError):  # another user's, or just gone
                continue

    def _held(self) -> bool:
        try:
            lock = os.open(self.folder / "server.lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False
