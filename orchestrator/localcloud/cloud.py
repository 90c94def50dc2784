"""Starts a local cloud, finds one, ends one. Standard library only: nothing of moto is imported here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from orchestrator.localcloud import names
from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.home import Home, Serving
from orchestrator.localcloud.steering import Steering

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType


class LocalCloud:
    """AWS on this machine, for as long as the `with` block runs.

        with LocalCloud(home=folder) as cloud:
            subprocess.run(["sweep", "submit", "sweep.yaml", "--yes"], env={**os.environ, **cloud.environment})

    It ends with the block, with this process, and with whatever it started.
    """

    def __init__(
        self,
        home: Path,
        *,
        regions: Sequence[str] = names.REGIONS,
        port: int = 0,
        vcpus: float | None = None,
        trainings: int | None = None,
        empty: bool = False,
        iam: bool = False,
        toolkit: bool = False,
    ) -> None:
        """Take the cloud's options; `with` starts it.

        `vcpus` of a Region's queues are shared by its launchers. `trainings` is how many run at once. An `empty` cloud
        has nothing, as a new account of AWS. With `iam`, callers are held to their policies. With `toolkit`, trainings
        are started by AWS's own training toolkit, which `make toolkit` installs.
        """
        self.home = Path(home)
        self.regions = list(regions)
        self._arguments = ["--port", str(port), "--with-parent"]
        if vcpus is not None:
            self._arguments += ["--vcpus", str(vcpus)]
        if trainings is not None:
            self._arguments += ["--trainings", str(trainings)]
        if empty:
            self._arguments += ["--empty"]
        if iam:
            self._arguments += ["--iam"]
        if toolkit:
            self._arguments += ["--toolkit"]
        self._server: subprocess.Popen[str] | None = None
        self._serving: Serving | None = None

    def __enter__(self) -> LocalCloud:
        self._server, self._serving = _start(self.home, self.regions, self._arguments, detached=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server:
            self._server.terminate()
            self._server.communicate()
            self._server = self._serving = None

    def wait(self) -> None:
        """Wait until the cloud ends by itself, or an interrupt ends the wait."""
        if self._server:
            self._server.wait()

    def advance(self, seconds: float) -> None:
        """Move the cloud's clock: what would have happened meanwhile (time-outs, schedules) happens now."""
        self.steering.advance(seconds)

    def fault(self, kind: str, what: str = "*", **parts: Any) -> AbstractContextManager[None]:
        """Let something go wrong while a block runs; `faults/faults.py` says what can.

        with cloud.fault("throttle", "sagemaker:CreateTrainingJob", percent=30, seed=7):
            ...
        """
        return self.steering.fault(kind, what, **parts)

    @property
    def steering(self) -> Steering:
        """What moves this cloud's clock, and lets things go wrong in it."""
        return Steering(self.serving.access)

    @property
    def serving(self) -> Serving:
        """The server, as it announced itself; LocalCloudError when it does not run."""
        if self._serving is None:
            raise LocalCloudError("this local cloud does not run: use it in a `with` block")
        return self._serving

    @property
    def endpoint(self) -> str:
        """The address of the server; LocalCloudError when it does not run."""
        return self.serving.endpoint

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead a process to this cloud, its key among them."""
        return environment(self.serving)


def up(
    home: Path,
    *,
    port: int = 0,
    regions: Sequence[str] = names.REGIONS,
    empty: bool = False,
    iam: bool = False,
    toolkit: bool = False,
) -> Serving:
    """Start a local cloud in the background, where it stays until `down`. Return who serves, and where."""
    arguments = ["--port", str(port)]
    if empty:
        arguments += ["--empty"]
    if iam:
        arguments += ["--iam"]
    if toolkit:
        arguments += ["--toolkit"]
    server, serving = _start(home, list(regions), arguments, detached=True)
    for pipe in (server.stdout, server.stderr):
        if pipe:
            pipe.close()
    return serving


def down(home: Path) -> bool:
    """End the cloud of this home, and all it started, even after a crash. Return False when none ran."""
    return Home(home).end()


def status(home: Path) -> Serving | None:
    """Return the cloud that serves this home; None when none does."""
    return Home(home).serving()


def environment(serving: Serving) -> dict[str, str]:
    """Return the variables that lead a process to a running cloud, its key among them."""
    return names.environment(serving.access, serving.regions, empty=serving.empty)


def _start(
    home: Path, regions: list[str], arguments: list[str], *, detached: bool
) -> tuple[subprocess.Popen[str], Serving]:
    """Start a server, and wait until it serves. Raise LocalCloudError, with the server's reason, when it does not."""
    errors: int | IO[str] = subprocess.PIPE if detached else sys.stderr.fileno()
    where = ["--home", str(home), "--regions", ",".join(regions)]
    server: subprocess.Popen[str] | None = None
    try:
        with _uninterrupted():
            server = subprocess.Popen(
                [sys.executable, "-m", "orchestrator.localcloud", *where, *arguments],
                env={name: value for name, value in os.environ.items() if not name.startswith("AWS_")},  # no profile
                stdin=subprocess.DEVNULL if detached else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        line = server.stdout.readline() if server.stdout else ""
    except BaseException:  # an interrupt: nothing stays behind, half started
        if server:
            server.terminate()
            server.communicate()
        raise
    said = json.loads(line) if line else {}
    if "endpoint" not in said:
        _, message = server.communicate()
        last = (message or "").strip().rpartition("\n")[2]
        raise LocalCloudError(said.get("error") or last or "the local cloud did not start")
    return server, Serving.read(line)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back while a block runs: what the block starts must have a name before it can be stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is ever interrupted
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
