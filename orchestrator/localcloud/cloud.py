"""Start a local cloud, find one, end one. Standard library only: nothing of moto is imported here."""

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
        toolkit: bool = False,
    ) -> None:
        """`toolkit`: trainings are started by AWS's own, as `make toolkit` installs it."""
        self.home = Path(home)
        self.regions = list(regions)
        self._arguments = ["--port", str(port), "--with-parent"]
        self._arguments += ["--vcpus", str(vcpus)] if vcpus is not None else []
        self._arguments += ["--trainings", str(trainings)] if trainings is not None else []
        self._arguments += ["--toolkit"] if toolkit else []
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
        """Until the cloud ends by itself, or an interrupt ends the wait."""
        if self._server:
            self._server.wait()

    def advance(self, seconds: float) -> None:
        """Move the cloud's clock: what would have happened meanwhile (time-outs, schedules) happens now."""
        self.steering.advance(seconds)

    def fault(self, kind: str, what: str = "*", **parts: Any) -> AbstractContextManager[None]:
        """Let something go wrong while a block runs; `faults.Fault` says what can.

        with cloud.fault("throttle", "sagemaker:CreateTrainingJob", percent=30, seed=7):
            ...
        """
        return self.steering.fault(kind, what, **parts)

    @property
    def steering(self) -> Steering:
        return Steering(self.endpoint)

    @property
    def endpoint(self) -> str:
        if self._serving is None:
            raise LocalCloudError("this local cloud does not run: use it in a `with` block")
        return self._serving.endpoint

    @property
    def environment(self) -> dict[str, str]:
        """Lead a process here with these variables."""
        return names.environment(self.endpoint, self.regions)


def up(home: Path, *, port: int = 0, regions: Sequence[str] = names.REGIONS, toolkit: bool = False) -> Serving:
    """A local cloud in the background, until `down`."""
    arguments = ["--port", str(port), *(["--toolkit"] if toolkit else [])]
    server, serving = _start(home, list(regions), arguments, detached=True)
    for pipe in (server.stdout, server.stderr):
        if pipe:
            pipe.close()
    return serving


def down(home: Path) -> bool:
    """End the cloud of this home, and all it started, even after a crash; False when none ran."""
    return Home(home).end()


def status(home: Path) -> Serving | None:
    """The cloud that serves this home; None when none does."""
    return Home(home).serving()


def environment(serving: Serving) -> dict[str, str]:
    """Lead a process to a running cloud with these variables."""
    return names.environment(serving.endpoint, serving.regions)


def _start(
    home: Path, regions: list[str], arguments: list[str], *, detached: bool
) -> tuple[subprocess.Popen[str], Serving]:
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
    told = json.loads(line) if line else {}
    if "endpoint" not in told:
        _, message = server.communicate()
        last = (message or "").strip().rpartition("\n")[2]
        raise LocalCloudError(told.get("error") or last or "the local cloud did not start")
    return server, Serving(**told)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until what is being started has a name that it can be stopped by."""
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
