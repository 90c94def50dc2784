"""What a task trains with, but for its point: data, code, image and all else that changes a result, not how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.spec.train.environment import plain_variables
from orchestrator.wire.names import digest

if TYPE_CHECKING:
    from orchestrator.spec.sweep import Sweep


def digest_work(sweep: Sweep, dataset: str, code: str) -> str:
    """Return the digest of what the sweep's tasks on a dataset train with; `code` is that of the packed sources."""
    train = sweep.train
    image = train.image or (train.framework and train.framework.model_dump())
    work = [dataset, code, train.entry_point, train.hyperparameters, image]
    further = _further(sweep)
    return digest([*work, further] if further else work)


def _further(sweep: Sweep) -> dict[str, Any]:
    """Return what else changes what is trained, as far as the sweep asks for it: others keep the digest that they had.

    Nobody here knows which part of a platform's own table does, so it counts as a whole.
    """
    train = sweep.train
    channels = {"dataset": train.data_channel, "fixed": train.channels} if train.names_channels else {}
    asked = {
        "command": train.command,
        "arguments": train.arguments.model_dump(exclude_defaults=True),
        "channels": channels,
        "environment": plain_variables(train.environment),  # where a secret lies is not what is trained
        "platforms": sweep.platforms,
    }
    return {name: value for name, value in asked.items() if value}
