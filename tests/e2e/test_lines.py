"""A manifest's lines, each with what its header names, from the file to the trainings on the local cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import SpecError
from orchestrator.plan.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fixtures.team import Team

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

OTHER = "{account}.dkr.ecr.{region}.amazonaws.com/other:2"


def test_each_line_trains_in_its_own_image(team: Team, client: Callable[..., Any], name: str) -> None:
    data = "us-east-1,s3://sweep-local-us-east-1/data/alps/"
    lines = f"region,s3_uri,image\n{data},\n{data},{OTHER}\n"
    (team.folder / "jobs.csv").write_text(lines)
    orchestrator = team.orchestrator()
    plan = orchestrator.plan(team.plan("[1]").sweep, team.folder / "jobs.csv")
    assert Plan.from_json(plan.to_json()).images == (OTHER,)
    assert plan.task(0, code="").key != plan.task(1, code="").key
    assert not orchestrator.stale(plan)
    run = orchestrator.submit(plan, name=name)
    assert list(run.watch(every_s=0.3))[-1].finished
    assert [row.state.value for row in run.results()] == ["done", "done"]
    sagemaker = client("sagemaker", "us-east-1")
    images = [
        sagemaker.describe_training_job(TrainingJobName=f"{name}-{number}-1")["AlgorithmSpecification"]["TrainingImage"]
        for number in (0, 1)
    ]
    assert "/other@sha256:" in images[1]
    assert "/other@" not in images[0]


def test_an_image_of_a_line_is_held_against_the_same_rules_as_the_sweep_s(team: Team) -> None:
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-inference:2.6.0-cpu-py312-ubuntu22.04-sagemaker"
    lines = f"region,s3_uri,image\nus-east-1,s3://sweep-local-us-east-1/data/alps/,{image}\n"
    (team.folder / "jobs.csv").write_text(lines)
    with pytest.raises(SpecError) as caught:
        team.orchestrator().plan(team.plan("[1]").sweep, team.folder / "jobs.csv")
    assert str(caught.value).startswith(f"image {image} of the manifest: pytorch-inference serves models")
