"""Which runs show what more instances are worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import InfeasibleError, UsageError
from orchestrator.planner.solve import solve
from orchestrator.scaling.steps import Asked, make_steps
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan
    from orchestrator.scaling.steps import Step
    from orchestrator.spec.sweep import Sweep

ALPS = candidate(slots=4.0)
DEARER = candidate(region="eu-west-1", usd_per_hour=2.0, on_demand_usd_per_hour=2.0, slots=64.0)


def steps(
    counts: tuple[int, ...], *candidates: dict[str, Any], there: dict[str, Plan] | None = None, **asked: Any
) -> list[Step]:
    sweep = make_sweep(**asked.pop("sweep", {}))

    def make_plan(narrowed: Sweep) -> Plan:
        """Plan as the catalog would: with the Regions that the sweep allows."""
        regions = narrowed.where.regions or [row["region"] for row in candidates or (ALPS,)]
        return solve(narrowed, make_market(*(row for row in candidates or (ALPS,) if row["region"] in regions)))

    return make_steps(sweep, Asked(counts, **asked), make_plan, (there or {}).get)


def told(found: list[Step]) -> list[tuple[int, str, int, int, str]]:
    return [
        (
            step.instances,
            step.run,
            step.plan.tasks,
            step.plan.shares[0].instances,
            step.plan.shares[0].places[0].lane.region,
        )
        for step in found
    ]


def test_each_number_is_a_run_of_one_task_on_so_many_instances() -> None:
    assert told(steps((1, 2, 4))) == [
        (1, "grid-scale-1", 1, 1, "us-east-1"),
        (2, "grid-scale-2", 1, 2, "us-east-1"),
        (4, "grid-scale-4", 1, 4, "us-east-1"),
    ]


def test_all_are_on_the_lane_that_has_room_for_the_most() -> None:
    assert {region for *_, region in told(steps((1, 8), ALPS, DEARER))} == {"eu-west-1"}


def test_the_point_is_the_one_that_was_asked_for() -> None:
    found = [steps((1,), point=number)[0].plan.point(0) for number in range(4)]
    sweep = make_sweep()
    assert found == [sweep.points.point(number) for number in range(4)]


def test_what_the_sweep_says_of_many_tasks_is_left_out() -> None:
    (step,) = steps((1,), sweep={"plan": {"deadline": "1m"}, "canary": 1, "pause_after": 2})
    assert (step.plan.sweep.plan.deadline, step.plan.sweep.canary) == (None, 0)


def test_horovod_is_still_asked_for() -> None:
    (step,) = steps((1,), sweep={"train__parallel": "horovod"})
    assert step.plan.sweep.train.wants_horovod


def test_the_folder_of_the_code_stays() -> None:
    (step,) = steps((1,), sweep={"folder": Path("/tmp/team")})
    assert str(step.plan.sweep.source_folder) == "/tmp/team/training"


def test_runs_that_are_there_keep_their_plans_and_give_the_others_their_lane() -> None:
    (first,) = steps((1,), DEARER)
    again = steps((1, 2), ALPS, DEARER, there={"grid-scale-1": first.plan})
    assert again[0].plan is first.plan
    assert [region for *_, region in told(again)] == ["eu-west-1", "eu-west-1"]


def test_a_run_of_another_sweep_is_not_taken_for_ours() -> None:
    (other,) = steps((1,), sweep={"train__image": "registry/steering:2"})
    with pytest.raises(UsageError, match="run 'grid-scale-1' is of another sweep"):
        steps((1,), there={"grid-scale-1": other.plan})
    assert told(steps((1,), there={"grid-scale-1": other.plan}, name="mine"))[0][1] == "mine-1"


def test_a_point_that_is_not_in_the_space_is_refused() -> None:
    with pytest.raises(UsageError, match="the space has 4 points"):
        steps((1,), point=4)


def test_a_dataset_without_its_version_is_refused() -> None:
    with pytest.raises(UsageError, match="'alps' is no dataset"):
        steps((1,), dataset="alps")


def test_more_instances_than_any_lane_has_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="a training needs 8"):
        steps((1, 8))
