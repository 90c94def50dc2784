"""Which instance types are SageMaker's: a sweep for several platforms names others beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.spec.sweep import Sweep

PREFIX = "ml."
"""The beginning of the names of all of SageMaker's instance types."""


def types_of_ours(sweep: Sweep) -> dict[int, str]:
    """Return the sweep's instance types that are SageMaker's, by their index in `where.instance_types`."""
    return {index: name for index, name in enumerate(sweep.where.instance_types) if name.startswith(PREFIX)}
