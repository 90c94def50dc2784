"""Tasks that would take too long: beyond their timeout, or with too much of it lost to interruptions of spot.

A task that saves checkpoints loses little. One that saves none begins anew after each interruption. That is an obstacle
for each lane whose interruptions are expected to cost it more hours than the sweep allows. Both limits are held by the
longest task of a cohort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError
from orchestrator.planner.hours.interruptions import held_hours
from orchestrator.planner.hours.sizes import named_size
from orchestrator.planner.offer.instance_counts import on_instances
from orchestrator.spec.duration import HOUR, seconds, spell
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from orchestrator.plan.dataset import Dataset
    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.spec.sweep import Sweep

NEVER_HOURS = 1e6
"""A task that holds its instances for longer, more than a century, never ends."""
LESS = -1.0
"""Stands for the hours that are lost on a lane where some task may run."""


@dataclass(frozen=True)
class Lasting:
    """What tasks hold at some places, in hours, beside what they work there."""

    sweep: Sweep
    work: Floats
    held: Floats

    @property
    def in_time(self) -> Booleans:
        """True where a task keeps its timeout."""
        return np.asarray(self.held * HOUR <= seconds(self.sweep.timeout))

    @property
    def lost(self) -> Floats:
        """Hours that interruptions are expected to cost a task that saves no checkpoints."""
        return np.zeros_like(self.held) if self.sweep.train.checkpoints else self.held - self.work

    @property
    def allowed(self) -> Booleans:
        """True where a task keeps its timeout, and loses no more than the sweep allows."""
        return np.asarray(self.in_time & (self.lost * HOUR <= seconds(self.sweep.plan.most_lost)))

    def lost_by_lane(self, lane: Integers, lanes: int) -> Floats:
        """Return for each of so many lanes the least hours that tasks would lose which keep their timeout.

        LESS where some task does not lose too much, and inf where none keeps its timeout.
        """
        found = np.full(lanes, np.inf)
        np.minimum.at(found, lane[self.in_time], self.lost[self.in_time])
        found[lane[self.allowed]] = LESS
        return found


def check_lasting(
    sweep: Sweep, datasets: Sequence[Dataset], groups: Sequence[Cohort], candidates: pd.DataFrame, runtimes: Runtimes
) -> None:
    """Raise InfeasibleError where no place is fast enough for some task, interruptions included, or loses too much."""
    source, factor, is_spot, interruptions = _paces(candidates, runtimes)
    dataset = candidates["dataset"].to_numpy()
    rows = {number: np.flatnonzero(dataset == number) for number in {group.dataset for group in groups}}

    def lasting(group: Cohort) -> Lasting:
        its = rows[group.dataset]
        work = np.array(group.longest)[source[its]] * factor[its]
        return Lasting(sweep, work, held_hours(sweep, work, is_spot[its], interruptions[its]))

    stranded = [(group, found) for group in groups if not (found := lasting(group)).allowed.any()]
    if not stranded:
        return
    slowest, found = max(stranded, key=lambda each: float(each[1].held.min()))
    task = f"a task of {datasets[slowest.dataset].name}{named_size(sweep, slowest.longest_size)}"
    raise _too_slow(task, found) if not found.in_time.any() else _loses(task, found)


def _too_slow(task: str, found: Lasting) -> InfeasibleError:
    longest = float(found.held.min())
    interrupted = longest > float(found.work.min())
    included = ", interruptions of spot included" if interrupted else ""
    remedy = "save checkpoints, or allow on_demand" if interrupted else "use more instances"
    if longest > NEVER_HOURS:  # it is interrupted again and again
        return InfeasibleError(f"{task} never ends{included}", hint=remedy)
    return InfeasibleError(
        f"{task} takes {longest:.1f} hours{included}, longer than the timeout of {found.sweep.timeout}",
        hint=f"set `timeout` to {spell(longest * HOUR * 1.2)} or more, or {remedy}",
    )


def _loses(task: str, found: Lasting) -> InfeasibleError:
    least = np.where(found.in_time, found.lost, np.inf).argmin()
    lost, work = float(found.lost[least]), float(found.work[least])
    return InfeasibleError(
        f"{task} works {work:.1f} hours, and interruptions of spot are expected to cost it {lost:.1f} more, "
        f"for it saves no checkpoints: at most {found.sweep.plan.most_lost} are allowed",
        hint=f"save checkpoints, allow on_demand, or write `plan: {{spot_loss: {spell(lost * HOUR * 1.2)}}}`",
    )


def too_long_notes(sweep: Sweep, unused: pd.DataFrame, lost: Mapping[int, float]) -> list[str]:
    """Return a note for each lane on which no task keeps its timeout, or all would lose too much to interruptions.

    `unused` are the lanes of an offer that no task can choose, by number; `lost` is the offer's.
    """
    columns = unused[["instance_type", "purchase", "region", "instances"]]
    choice = len(sweep.train.instance_counts) > 1
    rows = zip(columns.itertuples(index=False, name=None), unused.index.tolist(), strict=True)
    found = {
        f"left out: {name} {purchase} in {region}{on_instances(count) if choice else ''}, "
        f"where {_why(sweep, lost.get(lane))}"
        for (name, purchase, region, count), lane in rows
    }
    return sorted(found)


def _why(sweep: Sweep, lost: float | None) -> str:
    if lost is None:
        return f"tasks would run into the timeout of {sweep.timeout}"
    return f"interruptions would cost a task {lost:.1f} hours or more, for it saves no checkpoints"


def _paces(candidates: pd.DataFrame, runtimes: Runtimes) -> tuple[Integers, Floats, Booleans, Floats]:
    """Return for each candidate the source of its hours, a factor on them, True for spot, and interruptions an hour."""
    kinds = zip(candidates["instance_type"].tolist(), candidates["instances"].tolist(), strict=True)
    paces = [runtimes.pace[kind] for kind in kinds]
    return (
        np.array([source for source, _ in paces]),
        np.array([factor for _, factor in paces]),
        np.asarray(candidates["purchase"] == Purchase.SPOT.value),
        candidates["interruptions_per_hour"].to_numpy(dtype=np.float64),
    )
