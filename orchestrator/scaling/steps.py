"""The runs that show what more instances are worth: one training, on one lane, once for each number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.errors import UsageError
from orchestrator.plan.one_task import body_of_point, on_dataset, on_lane
from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.plan.plan import Plan

LEFT_OUT = ("plan", "canary", "pause_after")
"""What a sweep file says of many tasks, and one training does not need."""


@dataclass(frozen=True)
class Step:
    """One training on so many instances, as a run of its own."""

    instances: int
    run: str
    plan: Plan


@dataclass(frozen=True)
class Asked:
    """What is to be timed."""

    counts: tuple[int, ...]
    """The numbers of instances, the smallest first."""
    dataset: str = ""
    """The dataset to train on, such as `alps@2`; if none is named, the first that a plan finds."""
    point: int = 0
    """The number of a point of the space."""
    name: str = ""
    """What the runs are called, before their numbers of instances; if nothing is said, after the sweep."""


def make_steps(
    sweep: Sweep, asked: Asked, make_plan: Callable[[Sweep], Plan], find: Callable[[str], Plan | None]
) -> list[Step]:
    """Return a step for each number of instances, all of the same task on the same lane.

    A run that is there already keeps its plan, and the others take its lane: so the same command again goes on where it
    was stopped. `find` returns the plan of a run by its name. Raise UsageError if a run of such a name is of another
    sweep, or there is no such point or dataset; and what `make_plan` raises if the lane has too few slots.
    """
    points = sweep.points.sizes * sweep.points.points_per_size
    if asked.point >= points:
        raise UsageError(f"the space has {points:,} points", where=f"--point {asked.point}", hint="they begin at 0")
    if asked.dataset and "@" not in asked.dataset:
        hint = f"write its version too, such as {asked.dataset}@1; `sweep catalog show datasets` lists them"
        raise UsageError(f"{asked.dataset!r} is no dataset", where="--dataset", hint=hint)
    names = {count: f"{asked.name or f'{sweep.name}-scale'}-{count}" for count in asked.counts}
    there = {count: plan for count, name in names.items() if (plan := find(name))}
    body = _one_training(sweep, asked)
    chosen = next(iter(there.values()), None) or make_plan(_sweep(sweep, body, max(asked.counts)))
    first = chosen.share(0)
    body = on_lane(on_dataset(body, chosen.datasets[first.dataset].name), first.places[0].lane)
    steps = []
    for count, name in names.items():
        wanted = _sweep(sweep, body, count)
        plan = there.get(count)
        if plan and not _is_same(plan.sweep, wanted):
            raise UsageError(f"run {name!r} is of another sweep", hint="--name gives these runs another name")
        steps.append(Step(count, name, plan or make_plan(wanted)))
    return steps


def _one_training(sweep: Sweep, asked: Asked) -> dict[str, Any]:
    body = body_of_point(sweep, sweep.points.point(asked.point))
    body = {name: value for name, value in body.items() if name not in LEFT_OUT}
    return on_dataset(body, asked.dataset) if asked.dataset else body


def _sweep(sweep: Sweep, body: dict[str, Any], instances: int) -> Sweep:
    """Return the sweep of this body on so many instances, in the folder of the one that was asked about."""
    train = body["train"] | {"instances": instances}
    if sweep.train.wants_horovod:
        train["parallel"] = "horovod"
    return Sweep.model_validate(body | {"train": train, "folder": sweep.folder})


def _is_same(one: Sweep, other: Sweep) -> bool:
    return one.as_written().model_dump(mode="json") == other.as_written().model_dump(mode="json")
