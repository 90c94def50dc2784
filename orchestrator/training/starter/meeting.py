"""Lets the machines of an MPI training wait for each other: the first starts all ranks, by ssh; the others serve.

Each other machine calls the first once its sshd runs. The first starts `mpirun` when all have called, and tells them
when it has ended. It travels into the training: standard library only.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from typing import TYPE_CHECKING

from orchestrator.training.starter.launch import CannotStart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.training.starter.machine import Machine

    Address = tuple[str, int]

_SSHD = "/usr/sbin/sshd"
_OWN_AGENT = "OMPI_MCA_plm_rsh_agent"
"""Open MPI's variable for a program that takes the place of ssh."""
_PATIENCE_S = 3600.0
"""Seconds for which machines wait for each other, as under AWS's toolkit."""
_BETWEEN_S = 1.0
_DONE = b"done\n"


def start_sshd(environ: Mapping[str, str]) -> None:
    """Let the other machines log in, unless `mpirun` is told of another way. CannotStart if the image has no sshd."""
    if _OWN_AGENT in environ:
        return
    if not os.path.exists(_SSHD):  # noqa: PTH110
        raise CannotStart(f"there is no {_SSHD} in the image, by which mpirun reaches other machines")
    os.makedirs("/run/sshd", exist_ok=True)  # noqa: PTH103
    subprocess.Popen([_SSHD, "-D"])


def meeting_point(environ: Mapping[str, str]) -> Address:
    """Return the address at which the first machine listens."""
    return environ["MASTER_ADDR"], int(environ["MASTER_PORT"])


@contextlib.contextmanager
def gather(machine: Machine, point: Address) -> Iterator[None]:
    """Wait until all other machines have called; at the end tell them that it is over.

    CannotStart if some machine does not call in time.
    """
    callers = []
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", point[1]))
        listener.listen(len(machine.hosts))
        listener.settimeout(_PATIENCE_S)
        try:
            for _ in machine.hosts[1:]:
                callers.append(listener.accept()[0])
        except OSError as error:
            missing = len(machine.hosts) - 1 - len(callers)
            raise CannotStart(f"{missing} of {len(machine.hosts)} machines did not come: {error}") from error
    try:
        yield
    finally:
        for caller in callers:
            with contextlib.suppress(OSError):  # it has gone already
                caller.sendall(_DONE)
            caller.close()


def serve(point: Address) -> None:
    """Call the first machine, and wait until it says that it is over. CannotStart if it cannot be reached, or dies."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            line = socket.create_connection(point, timeout=_BETWEEN_S)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise CannotStart(f"the first machine does not answer at {point[0]}: {error}") from error
            time.sleep(_BETWEEN_S)
    with line:
        line.settimeout(None)
        try:
            last = line.recv(len(_DONE))
        except OSError as error:
            raise CannotStart(f"the first machine is gone: {error}") from error
        if last != _DONE:
            raise CannotStart("the first machine is gone")
