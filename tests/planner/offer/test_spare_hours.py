"""Where a plan says spot, a task's launcher begins on spot, and is expected to end there: one rule holds for both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orchestrator.errors import SweepError
from orchestrator.launcher.decide import Start, decide
from orchestrator.launcher.moving.saved import Ahead, Saved
from orchestrator.launcher.tried import Tried
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.solve import solve
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState
from orchestrator.wire.task import Purchase, Task
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan, Share

HOUR = 3600.0
START = 0.1
TYPES = ["ml.g5.xlarge", "ml.g5.2xlarge"]
REGIONS = ["us-east-1", "us-west-2", "eu-west-1"]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Some tasks of three lengths, with a deadline and checkpoints, where spot is cheap and may have few slots."""
    rows = []
    for region in draw(st.lists(st.sampled_from(REGIONS), min_size=1, unique=True)):
        for number, kind in enumerate(TYPES):
            usd = 3.0 * (number + 1)
            lane: dict[str, Any] = {"region": region, "instance_type": kind, "on_demand_usd_per_hour": usd}
            spot = {"purchase": "spot", "usd_per_hour": usd * draw(st.sampled_from([0.3, 0.4, 0.7]))}
            rate = draw(st.sampled_from([None, 0.01, 0.2]))
            rows.append(candidate(**lane, **spot, slots=draw(SLOTS), interruptions_per_hour=rate))
            if draw(st.booleans()):
                rows.append(candidate(**lane, usd_per_hour=usd, slots=draw(SLOTS)))
    sweep = make_sweep(
        space={"size": draw(st.sampled_from([[1], [1, 4], [1, 4, 11]])), "seed": list(range(draw(st.integers(1, 4))))},
        runtime={TYPES[0]: f"{draw(st.sampled_from([0.3, 1.0, 2.2]))} * size", TYPES[1]: "0.8 * size"},
        where__instance_types=TYPES,
        train__checkpoints={"every": draw(st.sampled_from(["5m", "15m", "1h"]))},
        plan={"deadline": draw(st.sampled_from(["1h", "2h", "5h", "12h", "30h", "60h"]))},
        timeout="90h",
    )
    try:
        return solve(sweep, make_market(*rows))
    except SweepError:
        assume(False)
        raise


SLOTS = st.sampled_from([None, 1.0, 3.0])


def planned_task(plan: Plan, share: Share) -> Task:
    """Return a task of a share as it is written down, submitted at 0."""
    limits = replace(share.limits, end_by=plan.sweep.plan.hours * HOUR)
    return Task(share.first, "key", "alps@1", {}, share.places, limits)


def begun_on_spot(plan: Plan) -> list[tuple[Share, Task, float]]:
    """Return the shares that a plan sends to spot, a task of each, and when the last of them begins."""
    there = [share for share in plan.shares if share.places[0].lane.purchase is Purchase.SPOT]
    return [(share, planned_task(plan, share), (share.finish - share.longest) * HOUR) for share in there]


@settings(max_examples=examples(60), deadline=None)
@given(plans())
def test_where_a_plan_says_spot_the_first_attempt_is_there_and_so_are_all_others(plan: Plan) -> None:
    for share, task, last_start in begun_on_spot(plan):
        for now in (0.0, last_start):
            step = decide(task, [], 0.0, now)
            assert isinstance(step, Start)
            assert step.place == 0

        # What is not interrupted is done there to its end, as the plan has priced it.
        assert purchases(task, last_start, share.longest) == {Purchase.SPOT}


def purchases(task: Task, now: float, work: float) -> set[Purchase]:
    """Return what a task's launcher buys, from stretch to stretch, until so many hours of work are done."""
    tried: list[Tried] = []
    while work > 1e-3:
        saved = Saved(tried[-1].attempt.lane.region, gb=0.01, usd_per_gb=0.02) if tried else None
        step = decide(task, tried, 0.0, now, Ahead(saved))
        assert isinstance(step, Start)
        place = task.places[step.place]
        seconds = min(step.max_runtime_s, (START + work) * HOUR)
        number = len(tried) + 1
        attempt = Attempt(0, number, step.place, place.lane, "t", "hash", step.max_runtime_s, now, place.rate)
        attempt = replace(attempt, max_wait_s=step.max_wait_s)
        now, work = now + seconds, work - (seconds / HOUR - START)
        ended = Outcome(number, place.lane, "t", TaskState.FAILED, Cause.TIMEOUT, seconds=seconds, ended_at=now)
        tried.append(Tried(attempt, ended))
    return {one.attempt.lane.purchase for one in tried}


def test_a_part_of_a_problem_has_no_longer_slots_than_the_whole() -> None:
    lane: dict[str, Any] = {"region": "us-east-1", "instance_type": TYPES[0], "on_demand_usd_per_hour": 3.0}
    spot = candidate(**lane, purchase="spot", usd_per_hour=1.0, slots=1.0)
    sweep = make_sweep(
        space={"size": [1, 4]},
        runtime="1.0 * size",
        where__instance_types=TYPES,
        train__checkpoints={"every": "5m"},
        plan={"deadline": "12h"},
        timeout="90h",
    )
    offered = formulate(sweep, make_market(spot, candidate(**lane, usd_per_hour=3.0, slots=1.0))).offer.problem
    whole = offered.within(12.0)
    dearest_to_keep = int(whole.choices.spare.argmax())
    part = replace(whole, choices=whole.choices.take(np.arange(len(whole.choices)) != dearest_to_keep))
    assert part.choices.spare.max() < whole.choices.spare.max()
    assert part.latest_end.tolist() == whole.latest_end.tolist()
