"""Says which AWS the conformance suite is held against: the local cloud, or a real account.

    SWEEP_CONFORMANCE=aws SWEEP_QUEUE=... SWEEP_ROLE=... SWEEP_REGION_BUCKET='team-{region}' \\
        SWEEP_CONFORMANCE_IMAGE=... pytest tests/localcloud

It takes credentials as every AWS program does, runs small jobs and trainings, and costs a few dollars. What a real
account has not (faults, a clock that moves, compute environments made in passing) is skipped there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

IS_REAL = os.environ.get("SWEEP_CONFORMANCE") == "aws"
SUITE = tuple(
    f"test_{name}" for name in ("account", "batch", "consumables", "dependencies", "queues", "refusals", "training")
)
NEEDED = ("SWEEP_QUEUE", "SWEEP_ROLE", "SWEEP_REGION_BUCKET", "SWEEP_CONFORMANCE_IMAGE")
HOW = f"set SWEEP_CONFORMANCE=aws, credentials, and {', '.join(NEEDED)} to hold the suite against a real account"
NOT_THERE = "a real account has no clock that moves and no faults on command"

LONGEST_S = 1800 if IS_REAL else 60
"""Seconds to wait for anything; a real account's containers start in minutes."""


def given(name: str, otherwise: str) -> str:
    """Return a setting of the real account, or what the local cloud always has."""
    return os.environ[name] if IS_REAL else otherwise


def leave_out(items: Iterable[pytest.Item]) -> None:
    """Against a real account, skip what is only about the local cloud."""
    for item in items:
        if IS_REAL and Path(item.path).stem not in SUITE:
            item.add_marker(pytest.mark.skip(reason="it is about the local cloud itself"))
