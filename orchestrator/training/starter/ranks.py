"""The MPI ranks of a training on this machine, and SIGTERM to them: `mpirun` would kill them a second after its own.

It travels into the training: standard library only.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_RANK = b"OMPI_COMM_WORLD_RANK="
_JOB = "TRAINING_JOB_NAME"


def terminate_ranks(environ: Mapping[str, str]) -> bool:
    """Send SIGTERM to each rank of the training that has this environment; return whether there was one."""
    ranks = list(_find_ranks(f"{_JOB}={environ.get(_JOB, '')}".encode()))
    for pid in ranks:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(pid, signal.SIGTERM)
    return bool(ranks)


def _find_ranks(job: bytes) -> Iterator[int]:
    """Yield the pids of ranks, but not of the helpers that a rank has started: these have its variables too."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended, or is not ours
            variables = (process / "environ").read_bytes().split(b"\0")
            if job in variables and any(variable.startswith(_RANK) for variable in variables):
                parents[int(process.name)] = int((process / "stat").read_text().rpartition(") ")[2].split()[1])
    yield from (pid for pid, parent in parents.items() if parent not in parents)
