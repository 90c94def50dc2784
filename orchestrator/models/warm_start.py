"""What a sweep takes from its workload's champion: its parameters, and its model if trainings start from it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.errors import SpecError
from orchestrator.spec.warm import CHANNEL, Warm

if TYPE_CHECKING:
    from orchestrator.models.promotion import Promotion
    from orchestrator.spec.sweep import Sweep

log = logging.getLogger(__name__)


def warmed(sweep: Sweep, champion: Promotion, region_bucket: str) -> Sweep:
    """Return the sweep with its champion's parameters among its points, and its model as a channel if it asks for it.

    `region_bucket` is the bucket of a Region, with `{region}` in its name: submitting copies the model there.
    """
    model, gives_model = champion.model, sweep.warm_start == "champion"
    missing = [name for name in sweep.points.parameters if name not in model.point]
    if missing:
        log.warning("the champion, %s, has no %s: its parameters are not tried", model.name, " and no ".join(missing))
    brought = ""
    if gives_model and not model.artifact:
        log.warning("the champion, %s, has left no model: trainings are not given it", model.name)
    elif gives_model:
        if CHANNEL in sweep.train.all_channels:
            hint = "give yours another name"
            raise SpecError(f"the channel {CHANNEL} brings the champion's model", where="train.channels", hint=hint)
        brought = f"s3://{region_bucket}/champions/{sweep.name}/{champion.origin}/"
    point = {} if missing else model.point
    where = {"artifact": model.artifact, "region": model.region, "brought": brought} if brought else {}
    return start_from(sweep, Warm.model_validate({"promotion": champion.origin, "point": point, **where}))


def start_from(sweep: Sweep, warm: Warm) -> Sweep:
    """Return a sweep that has taken nothing from a champion yet, with this of its champion's."""
    made = sweep.model_copy(update={"warm": warm, "train": warm.channels(sweep.train)})
    made.__dict__.pop("points", None)  # a copy has what was worked out before, and there is a point more now
    return made
