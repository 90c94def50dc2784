"""Objects as version 1 has written them are read for ever: the files of tests/golden are never changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import NewerVersion
from orchestrator.plan.copy import Copy, copied_uri
from orchestrator.plan.facts import Lot, QuotaFact
from orchestrator.plan.file import read_plan
from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.plan.slots import LotKey
from orchestrator.platforms.sagemaker.request import make_request
from orchestrator.runs.written.anchor import Anchor
from orchestrator.runs.written.planned import Planned
from orchestrator.runs.written.submission import WITH_PLAN, Part, Submission
from orchestrator.spec.sweep import Sweep
from orchestrator.wire import manifest
from orchestrator.wire.beside.board import Board
from orchestrator.wire.beside.lineage import Lineage
from orchestrator.wire.beside.markers import Canary, Limit, PauseMarker
from orchestrator.wire.beside.measured import KeptCurve, KeptMetric, Measured
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Attempt, Cause, Outcome, Result, TaskState
from orchestrator.wire.stored import VERSION
from orchestrator.wire.task import WITH_IMAGE, Lane, Limits, Place, Purchase, Quota, Task
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"
SPOT = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
COMMITTED = Lane("sagemaker", "eu-west-1", "ml.p4d.24xlarge", Purchase.COMMITTED)
PLAN_ARN = "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/nightly"
DATA = "s3://team-eu-west-1/paris/v1/"


def body(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return found


def line() -> str:
    return (GOLDEN / "line.manifest").read_text(encoding="utf-8")


def test_a_board_is_read() -> None:
    assert Board.from_json(body("board.json")) == Board("nightly-912-3", 1795000000123, {"nightly-7-1": 1794999999000})


def test_a_lineage_is_read() -> None:
    assert Lineage.from_json(body("lineage.json")) == Lineage("paris@v1", DATA, "3f1c", "9a20")


def test_a_pause_marker_is_read() -> None:
    reason = "paused: the first 5 tasks to fail did so alike: ValueError: no column 'label'"
    assert PauseMarker.from_json(body("pause")) == PauseMarker({1: reason})


def test_a_limit_is_read() -> None:
    assert Limit.from_json(body("limit")) == Limit({"": 8, "eu-west-1": 2}, counted=True, set_at=1795000000.5)


def test_metrics_that_were_kept_are_read() -> None:
    kept = KeptMetric("acc: ([0-9.]+)", {912: KeptCurve(3, "1:0.5 2:0.75")})
    assert Measured.from_json(body("measured")) == Measured({"acc": kept})


def test_a_canary_is_read() -> None:
    assert Canary.from_json(body("canary")) == Canary(912, 1795010800.5)


def test_an_attempt_is_read() -> None:
    assert Attempt.from_json(body("attempt.json")) == Attempt(
        task=912,
        number=3,
        place=1,
        lane=COMMITTED,
        training="nightly-912-3",
        request_hash="0123456789ab",
        max_runtime_s=3600,
        recorded_at=1795000000.5,
        rate=0.0,
        site=PLAN_ARN,
        instances=2,
    )


def test_a_result_is_read() -> None:
    outcome = Outcome(
        number=1,
        lane=SPOT,
        training="nightly-912-1",
        state=TaskState.FAILED,
        cause=Cause.TIMEOUT,
        reason="it ran for longer than 3600 s",
        seconds=3600.0,
        billable_s=1200.0,
        usd=1.0,
        instances=2,
        started_at=1795000000.0,
        ended_at=1795003600.0,
        metrics={"loss": 0.25},
        artifact="s3://team-eu-west-1/runs/nightly/trainings/nightly-912-1/output/model.tar.gz",
    )
    assert Result.from_json(body("result.json")) == Result(
        task=912,
        key="c0ffee",
        state=TaskState.FAILED,
        reason="it ran for longer than 3600 s",
        outcomes=(outcome,),
        submission=2,
        curves={"loss": "1:4 2:3.5"},
    )


def golden_task() -> Task:
    return Task(
        number=912,
        key="c0ffee",
        dataset="paris@1",
        point={"lr": 0.1, "augment": True},
        places=(Place(SPOT, DATA, 1.5), Place(COMMITTED, DATA, 0.0, PLAN_ARN, 2)),
        limits=Limits(max_runtime_s=3600, max_wait_s=7200, retries=1, patience_s=600, envelope=5.4),
        after=2,
    )


def test_a_line_of_a_manifest_is_read() -> None:
    assert manifest.parse(line()) == golden_task()


def test_a_template_is_read() -> None:
    stored = body("template.json")
    assert Template.from_json(stored) == Template(
        platform="sagemaker",
        region="eu-west-1",
        run="nightly",
        owner="ada",
        body=stored["body"],
        output="s3://team-eu-west-1/runs/nightly",
        checkpoints=True,
        poll_s=30.0,
        metrics={"loss": "loss=([0-9.]+)"},
    )


def test_the_recorded_request_of_a_stored_template_and_task_is_made_again() -> None:
    """A launcher of another version starts only what has the very hash that was recorded."""
    task, template = golden_task(), Template.from_json(body("template.json"))
    hashes = [make_request(template, task, place, 3, 3600).hash for place in task.places]
    assert hashes == ["cb7d2bf9d55f", "276981534926"]


def golden_plan() -> Plan:
    sweep = {
        "name": "nightly",
        "train": {"entry_point": "train.py", "source": "code", "image": "me/train:1", "instances": 2},
        "space": {"lr": [0.1, 0.2]},
        "where": {"instance_types": ["ml.g5.xlarge", "ml.p4d.24xlarge"]},
        "runtime": 0.5,
    }
    share = Share(
        first=0,
        count=2,
        dataset=0,
        places=golden_task().places,
        hours=0.5,
        usd=0.25,
        limits=golden_task().limits,
        why="the cheapest",
        finish=0.6,
    )
    copy = Copy(0, "us-east-1", "eu-west-1", "s3://team-us-east-1/paris/v1/", copied_uri("paris@1"), 0.02, 0.1)
    spot_uses = {"ml.g5.xlarge/spot": 1, "*/spot": 1, "*/*": 1}
    return Plan(
        sweep=Sweep.model_validate(sweep),
        market="0123456789ab",
        datasets=(Dataset("paris@1", 1000),),
        shares=(share,),
        notes=("a note",),
        copies=(copy,),
        lots=(Lot(SPOT, 0.5, spot_uses, used=2), Lot(COMMITTED, 0.0, {PLAN_ARN: 1}, PLAN_ARN, 2)),
        quotas=(QuotaFact(Quota("sagemaker", "eu-west-1", "ml.g5.xlarge/spot"), units=8, held=4),),
        bound=0.49,
    )


def test_a_plan_file_is_read_and_is_still_the_plan_that_it_says() -> None:
    plan = read_plan(GOLDEN / "plan.json")
    assert replace(plan, sweep=plan.sweep.model_copy(update={"folder": Path()})) == golden_plan()
    assert plan.id == "e930fb6276b5"


def test_a_run_is_read() -> None:
    assert Anchor.from_json(body("anchor.json")) == Anchor("nightly", golden_plan(), "c0de", "ada", 1795000000.0)


def test_a_submission_is_read() -> None:
    part = Part(Ranges.parse_in_order("9,7-8"), LotKey(COMMITTED, PLAN_ARN), 2)
    assert Submission.from_json(body("submission.json")) == Submission(
        number=2,
        parts=(Part(Ranges.parse("0-4")), part),
        after=((3, Ranges.parse("0-4")), (1, Ranges.parse("7"))),
    )


def test_a_submission_that_has_planned_its_tasks_anew_is_read() -> None:
    spot = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
    place = Place(spot, "s3://{bucket}/datasets/paris@1/", 1.408)
    share = Share(7, 3, 0, (place,), 1.5, 0.63, Limits(3600, max_wait_s=5400), "cheapest", 4.5, 1.6)
    copy = Copy(0, "us-east-1", "eu-west-1", "s3://data/paris/", "s3://{bucket}/datasets/paris@1/", 2.5, 0.1)
    lot = Lot(spot, 0.42, {"ml.g5.xlarge/spot": 1}, used=4)
    fact = QuotaFact(Quota("sagemaker", "eu-west-1", "ml.g5.xlarge/spot"), 8, 4)
    assert Submission.from_json(body("submission-planned.json")) == Submission(
        number=2,
        parts=(Part(Ranges.parse("7-9")),),
        made_at=1795000600.0,
        planned=Planned((share,), (copy,), (lot,), (fact,)),
        since=1795000000.0,
    )


READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "anchor": Anchor.from_json,
    "attempt": Attempt.from_json,
    "plan": Plan.from_json,
    "result": Result.from_json,
    "submission": Submission.from_json,
    "template": Template.from_json,
}


@pytest.mark.parametrize("what", sorted(READERS))
def test_what_a_newer_sweep_has_written_is_refused_in_words(what: str) -> None:
    newest = {"plan": WITH_IMAGE, "submission": WITH_PLAN}.get(what, VERSION)
    newer = body(f"{what}.json") | {"version": newest + 1}
    with pytest.raises(NewerVersion, match=f"has version {newest + 1}, and this sweep reads versions up to {newest} "):
        READERS[what](newer)


@pytest.mark.parametrize("what", sorted(READERS))
def test_what_is_written_today_says_its_version(what: str) -> None:
    assert READERS[what](body(f"{what}.json")).to_json()["version"] == VERSION


def test_a_line_that_a_newer_sweep_has_written_is_refused_in_words() -> None:
    with pytest.raises(NewerVersion, match="this manifest line has version 3, and this sweep reads versions up to 2 "):
        manifest.parse(line().replace('"version":1', '"version":3'))


def test_a_line_with_an_image_of_its_own_is_not_for_older_launchers() -> None:
    found = manifest.parse((GOLDEN / "line-with-image.manifest").read_text(encoding="utf-8"))
    assert isinstance(found, Task)
    assert found.image == "{account}.dkr.ecr.{region}.amazonaws.com/steering:8"
    assert found.to_json()["version"] == WITH_IMAGE == 2
    plain = manifest.parse(line())
    assert isinstance(plain, Task)
    assert (plain.image, plain.to_json()["version"]) == ("", VERSION)


def test_a_result_that_tells_of_waits_is_read_as_it_was_written() -> None:
    (outcome,) = Result.from_json(body("result-with-waits.json")).outcomes
    (before,) = Result.from_json(body("result.json")).outcomes
    waits = {"requested_at": 1794999000.0, "waited_s": 700.0, "freed_at": 1795003660.0, "interruptions": 2}
    assert outcome == replace(before, **waits)
    assert outcome.to_json() == before.to_json() | waits


def test_a_move_is_read_as_it_was_written() -> None:
    move = Move(
        task=912,
        number=3,
        lane=replace(SPOT, region="us-west-2"),
        site="",
        instances=2,
        decided_at=1795003600.5,
        submission=2,
        why="the newest checkpoint is brought to us-west-2",
        usd=0.04,
        paid_from="s3://team-eu-west-1/runs/nightly/checkpoints/912",
        uploads={"runs/nightly/checkpoints/912/slot-0/state": "upload"},
    )
    assert Move.from_json(body("moved")) == move
    assert move.to_json() == body("moved")


def test_a_result_that_tells_of_a_move_is_read_as_it_was_written() -> None:
    found = Result.from_json(body("result-with-move.json"))
    before = Result.from_json(body("result.json"))
    assert found.outcomes[0] == replace(before.outcomes[0], moved_usd=0.02)
    assert found.usd == before.usd + 0.02
    assert found.outcomes[0].to_json() == before.outcomes[0].to_json() | {"moved_usd": 0.02}


def test_a_result_that_names_a_zone_is_read_as_it_was_written() -> None:
    found = Result.from_json(body("result-with-zone.json"))
    before = Result.from_json(body("result.json"))
    assert found.outcomes[0] == replace(before.outcomes[0], site="eu-west-1b")
    assert found.outcomes[0].to_json() == before.outcomes[0].to_json() | {"site": "eu-west-1b"}


def test_a_result_that_a_queue_holds_back_is_read_as_it_was_written() -> None:
    found = Result.from_json(body("result-in-a-queue.json"))
    assert (found.state, found.outcomes[0].waits_for) == (
        "starting",
        body("result-in-a-queue.json")["outcomes"][0]["waits_for"],
    )
    assert found.to_json() == body("result-in-a-queue.json")


def test_a_result_whose_training_has_lost_its_machines_is_read_as_it_was_written() -> None:
    found = Result.from_json(body("result-that-waits.json"))
    assert (found.state, found.outcomes[0].lost_at, found.outcomes[0].interruptions) == ("running", 1795000600.0, 1)
    assert not found.outcomes[0].has_machines
    assert found.to_json() == body("result-that-waits.json")


def test_a_line_that_tells_what_it_costs_to_leave_is_read_as_it_was_written() -> None:
    found = manifest.parse((GOLDEN / "line-with-move-price.manifest").read_text(encoding="utf-8"))
    assert isinstance(found, Task)
    first, second = golden_task().places
    assert found.places == (replace(first, leave_usd_per_gb=0.02), second)
    assert [place.to_json().get("leave_usd_per_gb") for place in found.places] == [0.02, None]


def test_a_line_and_an_attempt_whose_platform_says_what_it_may_bill_besides_are_read() -> None:
    found = manifest.parse((GOLDEN / "line-with-allowance.manifest").read_text(encoding="utf-8"))
    assert isinstance(found, Task)
    first, second = golden_task().places
    assert found.places == (replace(first, allowance_s=900), second)
    assert [place.to_json().get("allowance_s") for place in found.places] == [900, None]
    assert [place.kept_back_s for place in found.places] == [900, 180]
    attempt = Attempt.from_json(body("attempt-with-allowance.json"))
    assert attempt == replace(Attempt.from_json(body("attempt.json")), allowance_s=900)
    assert attempt.to_json()["allowance_s"] == 900
    assert "allowance_s" not in Attempt.from_json(body("attempt.json")).to_json()
