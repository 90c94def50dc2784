"""One process of a training: its rank, and its lines in the log.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import os
import sys

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
"""Variables in which torchrun, Open MPI and other MPIs say a process's rank."""


def rank() -> int:
    """Return this process's rank, from 0.

    Where nothing that starts processes says it, it is the instance's place among SageMaker's hosts.
    """
    for name in _RANKS:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    hosts = json.loads(os.environ.get("SM_HOSTS") or "[]")
    host = os.environ.get("SM_CURRENT_HOST")
    return hosts.index(host) if host in hosts else 0


def write_line(text: str) -> None:
    """Write a line into the log at once, and in one piece.

    AWS's toolkit ends a line wherever Python has paused in writing it.
    """
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
