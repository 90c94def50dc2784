"""Tells what a training has gone through, from what its machines have written of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.eks.kept import Kept
from orchestrator.platforms.lives import Step, StepTaken

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.wire.result import Attempt


def steps(clients: Clients, attempt: Attempt) -> list[StepTaken]:
    """Return the steps of a training whose machines have said how they ended; nothing before."""
    kept = Kept(clients, attempt.output, attempt.lane.region, attempt.training)
    if kept.claim() is None:
        return []
    machines = [one for one in kept.machines(attempt.instances) if one]
    if not machines:
        return []
    here = min(one.started_at for one in machines)
    began = min((one.began_at for one in machines if one.began_at), default=None)
    ended = max(one.ended_at for one in machines)
    first = [StepTaken(Step.QUEUE, attempt.recorded_at, here)] if 0 < attempt.recorded_at <= here else []
    if began is None:
        return [*first, StepTaken(Step.DOWNLOAD, here, ended)]
    return [*first, StepTaken(Step.DOWNLOAD, here, began), StepTaken(Step.TRAINING, began, ended)]
