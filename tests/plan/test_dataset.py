"""The lines of a classic JOBARRAY: what they say reaches their tasks, and a plan gives them back as they were."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.catalog.survey.lines import name_lines
from orchestrator.plan.dataset import Dataset, lines_of
from orchestrator.plan.plan import Plan
from orchestrator.planner.solve import solve
from orchestrator.wire.manifest import ClassicLine
from orchestrator.wire.task import Lane, Place, Purchase
from tests.fixtures.sweeps import candidate, make_market, make_sweep

LINE = ClassicLine("us-east-1", "s3://lab/a/", {"depth": 3, "name": "net"}, "ml.g5.xlarge")
LINES = st.builds(
    ClassicLine,
    st.sampled_from(["us-east-1", "eu-west-1"]),
    st.sampled_from(["s3://lab/a/", "s3://lab/b/"]),
    st.sampled_from([{}, {"lr": 0.1}, {"lr": 0.2}]),
    st.sampled_from(["", "ml.g5.xlarge"]),
    st.sampled_from(["", "own/x:1"]),
)


def planned() -> Plan:
    market = replace(make_market(candidate()), lines={"alps@1": LINE})
    return solve(make_sweep(space={"lr": [0.1, 0.2]}, runtime=1), market)


def test_a_task_has_its_line_s_parameters_beside_those_of_the_space() -> None:
    plan = planned()
    assert [plan.task(number, code="").point for number in (0, 1)] == [
        {"depth": 3, "name": "net", "lr": 0.1},
        {"depth": 3, "name": "net", "lr": 0.2},
    ]


def test_a_plan_keeps_its_lines_in_its_file() -> None:
    plan = planned()
    again = Plan.from_json(plan.to_json())
    assert again.datasets == plan.datasets
    assert (again.id, again.task(0, code="").key) == (plan.id, plan.task(0, code="").key)


def test_a_dataset_of_the_catalog_is_written_as_ever() -> None:
    assert Dataset("alps@1", 5).to_json() == {"name": "alps@1", "bytes": 5}
    assert Dataset.from_json({"name": "alps@1", "bytes": 5}) == Dataset("alps@1", 5)


@given(st.lists(LINES, min_size=1, max_size=8))
def test_the_lines_of_a_plan_stand_for_the_tasks_that_they_stood_for(lines: list[ClassicLine]) -> None:
    named = name_lines(lines)
    of_name: dict[str, list[ClassicLine]] = {}
    for name, line in named:
        of_name.setdefault(name, []).append(line)
    placed = [
        (Dataset(name, 0, same[0].point, same[0].instance_type, same[0].image), tuple(map(place, same)))
        for name, same in of_name.items()
    ]
    assert set(map(told, name_lines(lines_of(placed)))) == set(map(told, named))
    assert all(len({line.region for line in same}) == len(same) for same in of_name.values())


def place(line: ClassicLine) -> Place:
    return Place(Lane("sagemaker", line.region, "ml.g5.xlarge", Purchase.SPOT), line.s3_uri, 1.0)


def told(named: tuple[str, ClassicLine]) -> tuple[str, str, str, str, str]:
    name, line = named
    return name, line.region, str(line.point), line.instance_type, line.image
