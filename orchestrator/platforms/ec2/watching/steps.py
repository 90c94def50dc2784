"""Reads from what the machines have written where a training has spent its time so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import NotFound
from orchestrator.platforms.ec2.watching.left import Left
from orchestrator.platforms.lives import Step, StepTaken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.wire.result import Attempt


def steps(clients: Clients, attempt: Attempt) -> list[StepTaken]:
    """Return what the training has gone through, in order; nothing if it was never launched.

    What the first machine has not told yet is one step: machines.
    """
    left = Left(clients, attempt)
    try:
        launched, words, ended = left.launched(), left.words(), left.ended()
    except NotFound:  # not even a bucket
        return []
    if launched is None:
        return []
    first = words.outcomes.get(0)
    over = ended.ended_at if ended else None
    if first is None:
        return [StepTaken(Step.MACHINES, launched.at, over and max(over, launched.at))]
    moments = [(Step.MACHINES, launched.at), (Step.DOWNLOAD, first.started_at)]
    moments += [(Step.TRAINING, first.began_at)] if first.began_at else []
    return list(_in_order(moments, first.ended_at))


def _in_order(moments: list[tuple[Step, float]], end: float) -> Iterator[StepTaken]:
    ends = [at for _, at in moments[1:]] + [end]
    for (step, began), ended in zip(moments, ends, strict=True):
        yield StepTaken(step, began, max(ended, began))
