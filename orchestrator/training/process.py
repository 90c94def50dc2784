"""One process of a training: which rank it is, and its words in the log.

Part of what travels into the training: the standard library only.
"""

from __future__ import annotations

import json
import os
import sys

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
"""As torchrun, Open MPI and other MPIs tell it."""


def rank() -> int:
    """From 0; without a launcher's word, the instance's place among SageMaker's hosts."""
    for name in _RANKS:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    hosts = json.loads(os.environ.get("SM_HOSTS") or "[]")
    host = os.environ.get("SM_CURRENT_HOST")
    return hosts.index(host) if host in hosts else 0


def write_line(text: str) -> None:
    """At once, and in one piece: AWS's toolkit ends a line wherever Python has paused in writing it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
