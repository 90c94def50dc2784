"""The hours that tasks on spot need to spare, so that launchers begin them there, and leave them there.

A launcher keeps the deadline of a task that saves checkpoints: where little time is left, it goes on on demand. So spot
is offered only where the launcher is expected to do all the work on it. How much slack that takes, spot_slack.py says.
A task that has nothing on demand to fall back on needs nothing to spare: its launcher holds on to spot.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.launcher.spot_slack import slack_to_stay
from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.spec.duration import HOUR, seconds
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.spec.sweep import Sweep


def with_spare_hours(problem: Problem, sweep: Sweep, lanes: pd.DataFrame) -> Problem:
    """Return the problem of a sweep that weighs spot, with the hours that its choices on spot need to spare."""
    choices, checkpoints = problem.choices, sweep.train.checkpoints
    if checkpoints is None:
        return problem
    on_spot = (lanes["purchase"] == Purchase.SPOT.value).to_numpy()[choices.lane]
    harbour = _hours_on_demand(problem, sweep, lanes)
    lengths, which = np.unique(choices.hours, return_inverse=True)
    every = seconds(checkpoints.every) / HOUR
    slack = np.array([slack_to_stay(hours, every) for hours in lengths.tolist()])[which]
    # What spot takes longer than on demand, as it is interrupted, is slack that is used up in expectation.
    spare = slack + np.maximum(harbour - choices.hours, 0.0)
    spare = np.where(on_spot & np.isfinite(harbour), spare, 0.0)
    return replace(problem, choices=replace(choices, spare=spare), deadline=sweep.plan.hours)


def _hours_on_demand(problem: Problem, sweep: Sweep, lanes: pd.DataFrame) -> Floats:
    """Return for each choice the fewest hours that its task takes where it could go on on demand; inf where nowhere.

    That is anywhere on demand where the data lies, or in the Region of the choice itself.
    """
    choices = problem.choices
    on_demand = (lanes["purchase"] == Purchase.ON_DEMAND.value).to_numpy()[choices.lane]
    usable = on_demand & (choices.pool == NO_POOL) & (problem.most_slots >= 1)[choices.lane]
    counts = (
        np.zeros(len(choices), dtype=np.int64) if sweep.train.may_change_instances else problem.instances[choices.lane]
    )
    regions = lanes["region"].factorize()[0][choices.lane]
    anywhere = _fewest(choices.hours, usable & (choices.copy == NO_COPY), choices.cohort, counts)
    return np.minimum(anywhere, _fewest(choices.hours, usable, choices.cohort, counts, regions))


def _fewest(hours: Floats, counted: Booleans, *keys: Integers) -> Floats:
    """Return for each row the fewest hours of those rows with its keys that are counted; inf where there are none."""
    group = np.zeros(len(hours), dtype=np.int64)
    for key in keys:
        group = group * (int(key.max(initial=0)) + 1) + key
    _, group = np.unique(group, return_inverse=True)
    found = np.full(int(group.max(initial=0)) + 1, np.inf)
    np.minimum.at(found, group[counted], hours[counted])
    return np.asarray(found[group])
