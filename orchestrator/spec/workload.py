"""What a sweep file says of its workload: of all runs of its name together, and not of one of them."""

from __future__ import annotations

from pydantic import Field

from orchestrator.spec.model import Model
from orchestrator.spec.promote import Promote


class Workload(Model):
    """The part of a sweep that holds from run to run."""

    promote: Promote | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="when the best task of a run becomes the workload's champion",
    )
