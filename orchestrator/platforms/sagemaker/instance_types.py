"""Which instance types are SageMaker's: a sweep for several platforms names others beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.spec.sweep import Sweep

PREFIX = "ml."
"""The beginning of the names of all of SageMaker's instance types."""
_LOCAL_DISKS = re.compile(r"ml\.([a-z]+\d+[a-z]*d|(g5|g6|gr6|g7|p5|p6|trn)[a-z0-9]*[.-])")
"""Families with a `d` in their name, and those that have such disks in all sizes."""


def types_of_ours(sweep: Sweep) -> dict[int, str]:
    """Return the sweep's instance types that are SageMaker's, by their index in `where.instance_types`."""
    return {index: name for index, name in enumerate(sweep.where.instance_types) if name.startswith(PREFIX)}


def has_local_disks(instance_type: str) -> bool:
    """Return True for a type with NVMe disks of its own. Nothing is guessed of a type that is not known here."""
    return _LOCAL_DISKS.match(instance_type) is not None
