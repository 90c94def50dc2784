"""The Python API, where it needs nothing but a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.api import Orchestrator, read_settings, read_sweep
from orchestrator.errors import InfeasibleError

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.spec.sweep import Sweep

CATALOG = {
    "campaigns": ["campaign", "alps"],
    "datasets": ["campaign,version,bytes,created_at", "alps,1,1000,2026-11-01"],
    "replicas": ["dataset,region,s3_uri", "alps@1,eu-west-1,s3://data-eu-west-1/alps/"],
    "prices": [
        "region,instance_type,purchase,usd_per_hour,observed_at",
        "eu-west-1,ml.g5.xlarge,on_demand,1.4,2026-11-01",
        "eu-west-1,ml.g6.xlarge,on_demand,1.1,2026-11-01",
        "eu-west-1,ml.g5.12xlarge,on_demand,7,2026-11-01",
    ],
}
MORE = [CATALOG["prices"][0], "eu-west-1,ml.g4dn.xlarge,on_demand,0.7,2026-11-01"]
SWEEP = """
name: small
train: {{source: training, entry_point: train.py, image: "registry/small:1"}}
where: {where}
runtime: 1
"""


def load(orchestrator: Orchestrator, folder: Path, kind: str, lines: list[str]) -> None:
    file = folder / f"{kind}.csv"
    file.write_text("\n".join(lines) + "\n")
    orchestrator.catalog.load([file])


@pytest.fixture
def orchestrator(tmp_path: Path) -> Orchestrator:
    made = Orchestrator(read_settings({"database": f"sqlite:///{tmp_path / 'x.db'}"}, folder=tmp_path, environ={}))
    for kind, lines in CATALOG.items():
        load(made, tmp_path, kind, lines)
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "train.py").touch()
    return made


def sweep(folder: Path, where: str) -> Sweep:
    (folder / "sweep.yaml").write_text(SWEEP.format(where=where))
    return read_sweep(folder / "sweep.yaml", read_settings(folder=folder, environ={}))


def test_a_plan_considers_every_type_that_has_the_resources_and_says_so(
    orchestrator: Orchestrator, tmp_path: Path
) -> None:
    plan = orchestrator.plan(sweep(tmp_path, "{resources: {gpus: 1}}"))
    assert plan.shares[0].places[0].lane.instance_type == "ml.g6.xlarge"
    assert "where.resources: considered ml.g5.xlarge, ml.g6.xlarge" in plan.notes


def test_planning_again_considers_what_is_for_sale_by_then(orchestrator: Orchestrator, tmp_path: Path) -> None:
    plan = orchestrator.plan(sweep(tmp_path, "{resources: {gpus: 1}}"))
    load(orchestrator, tmp_path, "prices", MORE)
    again = orchestrator.replan(plan)
    assert again.sweep.where.instance_types == ["ml.g4dn.xlarge", "ml.g5.xlarge", "ml.g6.xlarge"]
    assert orchestrator.stale(again) == ""


def test_a_frontier_considers_the_same_types(orchestrator: Orchestrator, tmp_path: Path) -> None:
    plans = orchestrator.frontier(sweep(tmp_path, "{resources: {gpus: 1}}"))
    assert {tuple(plan.sweep.where.instance_types) for plan in plans} == {("ml.g5.xlarge", "ml.g6.xlarge")}


def test_resources_that_nothing_for_sale_has_are_refused_in_one_line(
    orchestrator: Orchestrator, tmp_path: Path
) -> None:
    with pytest.raises(InfeasibleError, match=r"^where.resources: none of 3 instance types for sale has gpus: 8 \(ask"):
        orchestrator.plan(sweep(tmp_path, "{resources: {gpus: 8}}"))


def test_types_that_the_platform_cannot_start_the_training_on_are_not_considered(
    orchestrator: Orchestrator, tmp_path: Path
) -> None:
    load(orchestrator, tmp_path, "prices", [*MORE, "eu-west-1,ml.p4d.24xlarge,on_demand,37,2026-11-01"])
    asked = sweep(tmp_path, "{resources: {gpu_memory: 16GB}}")
    smddp = asked.model_copy(update={"train": asked.train.model_copy(update={"parallel": "smddp"})})
    assert orchestrator.plan(smddp).sweep.where.instance_types == ["ml.p4d.24xlarge"]
