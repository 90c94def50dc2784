"""Which of a training's processes this is. Part of what travels into the training: the standard library only."""

from __future__ import annotations

import json
import os

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
