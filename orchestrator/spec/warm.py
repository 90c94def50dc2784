"""A warm start: what a sweep takes from its workload's champion. It is found when the sweep is planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.spec.model import Model
from orchestrator.wire.task import Scalar

if TYPE_CHECKING:
    from orchestrator.spec.train.train import Train

CHANNEL = "champion"
"""The channel that brings the champion's model."""


class Warm(Model):
    """The champion that a sweep starts from."""

    promotion: int
    point: dict[str, Scalar]
    """Its parameters: they are tried beside the combinations of the space."""
    artifact: str = ""
    """The S3 URI of its model; empty where trainings are not given it."""
    region: str = ""
    """The Region that it lies in."""
    brought: str = ""
    """The address at which trainings find it, with `{region}` in it; empty where they are not given it."""

    def channels(self, train: Train) -> Any:
        """Return `train` with the channel that brings the model."""
        added = {CHANNEL: self.brought} if self.brought else {}
        return train.model_copy(update={"channels": {**train.channels, **added}})


def is_brought(channel: str, warm: Warm | None) -> bool:
    """Return whether `submit` brings a channel's data to where trainings find it: until then there is nothing."""
    return channel == CHANNEL and warm is not None and bool(warm.brought)


def cold(train: Train, warm: Warm | None) -> Train:
    """Return `train` as the file has it: without the champion's channel."""
    if warm is None or not warm.brought:
        return train
    channels = {name: uri for name, uri in train.channels.items() if name != CHANNEL}
    return train.model_copy(update={"channels": channels})
