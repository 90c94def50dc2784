"""A plan is a value: the same after being stored, and not to be changed by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from orchestrator.errors import NewerVersion, UsageError
from orchestrator.plan.file import read_plan, write_plan
from orchestrator.plan.plan import Plan
from orchestrator.planner.hours.interruptions import expected_hours
from orchestrator.planner.solve import solve
from orchestrator.wire.stored import VERSION
from orchestrator.wire.task import WITH_IMAGE
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def plan() -> Plan:
    """Two datasets, each 2 epochs x 2 lr: tasks 0-3 and 4-7."""
    return solve(
        make_sweep(),
        make_market(candidate(), candidate(dataset="bay@2", region="eu-west-1", purchase="spot", usd_per_hour=0.4)),
    )


def test_every_task_knows_its_dataset_point_and_place(plan: Plan) -> None:
    tasks = [plan.task(number, code="c0de") for number in range(plan.tasks)]
    assert [task.dataset for task in tasks] == ["alps@1"] * 4 + ["bay@2"] * 4
    assert [(task.point["epochs"], task.point["lr"]) for task in tasks[:4]] == [
        (1, 0.01),
        (1, 0.1),
        (2, 0.01),
        (2, 0.1),
    ]
    assert {str(task.places[0].lane) for task in tasks[4:]} == {"sagemaker/eu-west-1/ml.g5.xlarge/spot"}
    assert [task.number for task in tasks] == list(range(8))


@pytest.mark.parametrize(
    "changes",
    [
        {"train__data_channel": "train"},
        {"train__channels": {"validation": "s3://team/v/"}},
        {"train__channels": {"validation": {"us-east-1": "s3://team/v/"}}},
        {"train__environment": {"MODE": "fast"}},
        {"platforms": {"sagemaker": {"channels": {"training": {"distribution": "ShardedByS3Key"}}}}},
    ],
)
def test_all_else_that_changes_what_is_trained_is_part_of_the_key(changes: dict[str, Any]) -> None:
    market = make_market(candidate())
    plain, asked = (solve(make_sweep(**what), market).task(0, code="c0de").key for what in ({}, changes))
    assert plain != asked


def test_there_is_no_task_beyond_the_last(plan: Plan) -> None:
    with pytest.raises(IndexError, match="task 8 of 8"):
        plan.task(8, code="")
    with pytest.raises(IndexError):
        plan.task(-1, code="")


def test_a_task_s_key_is_all_that_makes_its_result(plan: Plan) -> None:
    key = plan.task(0, code="c0de").key
    market = make_market(candidate())
    assert len({plan.task(number, code="c0de").key for number in range(8)}) == 8
    assert plan.task(0, code="c0de", after=3).key == key
    assert plan.task(0, code="other").key != key
    assert solve(make_sweep(name="renamed", retries=2), market).task(0, code="c0de").key == key
    for changes in ({"train__image": "other:1"}, {"train__hyperparameters": {"momentum": 0.9}}):
        assert solve(make_sweep(**changes), market).task(0, code="c0de").key != key


def test_a_plan_adds_up(plan: Plan) -> None:
    spot = 2 * expected_hours(np.array([0.5, 1.0]), None).sum()
    assert plan.hours == pytest.approx(0.5 + 0.5 + 1 + 1 + spot)
    assert plan.usd == pytest.approx((0.5 + 0.5 + 1 + 1) + 0.4 * spot)
    assert plan.sites == (("sagemaker", "eu-west-1"), ("sagemaker", "us-east-1"))
    assert plan.regions == ("eu-west-1", "us-east-1")


def test_machine_hours_count_every_instance() -> None:
    plan = solve(make_sweep(space={}, runtime=1, train__instances=2), make_market(candidate()))
    assert plan.hours == pytest.approx(2 / 2**0.9)
    assert plan.usd == pytest.approx(2 / 2**0.9)


def test_the_most_that_a_plan_can_cost_is_at_its_dearest_place_with_all_its_instances(plan: Plan) -> None:
    (first, *_) = plan.shares
    places = tuple(replace(first.places[0], rate=rate, instances=n) for rate, n in ((1.0, 4), (3.0, 1), (1.0, 2)))
    made = replace(plan, shares=(replace(first, count=2, places=places),))
    assert made.worst_usd == pytest.approx(2 * 4 * 1.0 * (24 + 180 / 3600))
    assert made.hours == pytest.approx(2 * 4 * first.hours)


def test_a_plan_file_is_read_back_whole_with_the_sweep_s_folder(plan: Plan, tmp_path: Path) -> None:
    home = tmp_path / "project"
    (home / "plans").mkdir(parents=True)
    made = replace(plan, sweep=plan.sweep.model_copy(update={"folder": home}))
    write_plan(made, home / "plans" / "plan.json")
    assert json.loads((home / "plans" / "plan.json").read_text())["folder"] == ".."
    found = read_plan(home / "plans" / "plan.json")
    assert found == made
    assert found.id == made.id
    assert [path.name for path in (home / "plans").iterdir()] == ["plan.json"]


def test_where_the_sweep_lies_is_no_part_of_a_plan_s_id(plan: Plan, tmp_path: Path) -> None:
    moved = replace(plan, sweep=plan.sweep.model_copy(update={"folder": tmp_path}))
    assert moved.id == plan.id


def test_a_newer_writer_s_additions_are_ignored_but_stay_in_the_id(plan: Plan) -> None:
    body = json.loads(json.dumps(plan.to_json()))
    body["leases"] = []
    body["sweep"]["priority"] = "high"
    body["shares"][0]["limits"]["grace_s"] = 5
    body["shares"][0]["places"][0]["zone"] = "a"
    found = Plan.from_json(body)
    assert found.shares == plan.shares
    assert found.id != plan.id
    assert Plan.from_json(json.loads(json.dumps(found.to_json()))).id == found.id


def test_a_plan_s_id_does_not_depend_on_how_it_is_written_down(plan: Plan) -> None:
    assert plan.to_json()["version"] == VERSION
    body = plan.to_json()
    del body["version"]
    assert Plan.from_json(body).id == plan.id


def test_a_plan_of_a_newer_sweep_is_refused_with_the_file_s_name(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_plan(plan, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": WITH_IMAGE + 1}))
    with pytest.raises(
        NewerVersion, match=r"plan\.json: this plan has version 3, and this sweep reads versions up to 2"
    ):
        read_plan(path)


def _shorten(body: dict[str, Any]) -> None:
    body["shares"][0]["hours"] = 0.01


def _rename(body: dict[str, Any]) -> None:
    body["id"] = "0" * 12


@pytest.mark.parametrize("change", [_shorten, _rename])
def test_a_plan_file_changed_by_hand_is_refused(
    plan: Plan, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    path = tmp_path / "plan.json"
    write_plan(plan, path)
    body = json.loads(path.read_text())
    change(body)
    path.write_text(json.dumps(body))
    with pytest.raises(UsageError, match=r"plan\.json: changed by hand"):
        read_plan(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"id": 1, "folder": 2}', "name: x", "\xff", "[" * 10**5])
def test_what_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=r"plan\.json: not a plan \(`sweep plan"):
        read_plan(path)


@pytest.mark.parametrize("missing", ["id", "folder", "sweep", "market", "datasets", "shares"])
def test_a_plan_file_that_lacks_a_part_is_refused(plan: Plan, tmp_path: Path, missing: str) -> None:
    path = tmp_path / "plan.json"
    write_plan(plan, path)
    body = json.loads(path.read_text())
    del body[missing]
    path.write_text(json.dumps(body))
    with pytest.raises(UsageError, match="not a plan"):
        read_plan(path)


def test_a_file_that_cannot_be_written_or_read_is_refused(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent/plan\.json: cannot be written: No such file"):
        write_plan(plan, tmp_path / "absent" / "plan.json")
    with pytest.raises(UsageError, match=r"absent\.json: cannot be read: No such file"):
        read_plan(tmp_path / "absent.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder: is a folder"):
        write_plan(plan, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
