"""`sweep scale` times one training on several numbers of instances."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import Refused
from orchestrator.planner.solve import solve
from orchestrator.scaling import scaling as module
from orchestrator.scaling.steps import Asked, Step
from tests.cli.fake import FakeRun, row, status
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.calls import Sweep


SWEEP = """
name: grid
train: {source: training, entry_point: train.py, image: registry/x}
where: {instance_types: [ml.g5.xlarge]}
"""


@dataclass
class FakeScaling(module.Scaling):
    """Trainings that take 1,000 s on one instance, and 520 s on two."""

    asked: list[Asked] = field(default_factory=list)
    refusals: int = 0
    """How often a run is refused its slots before they are free."""
    failing: tuple[int, ...] = ()
    log: list[str] = field(default_factory=list)

    def steps(self, sweep: Any, asked: Asked) -> list[Step]:  # noqa: ARG002
        self.asked.append(asked)
        plans = {count: solve(replace_instances(count), make_market(candidate())) for count in asked.counts}
        return [Step(count, f"grid-scale-{count}", plans[count]) for count in asked.counts]

    def begin(self, step: Step) -> Any:
        if self.refusals and step.instances > 1:
            self.refusals -= 1
            self.log.append(f"refused {step.instances}")
            raise Refused("the slots are taken")
        self.log.append(f"began {step.instances}")
        ended = status(failed=1) if step.instances in self.failing else status(done=1)
        seconds = {1: 1000.0, 2: 520.0}[step.instances]
        rows = (
            [] if step.instances in self.failing else [replace(row(0, 0.5), instances=step.instances, seconds=seconds)]
        )
        return Followed(step.run, statuses=[ended], rows=rows, log=self.log)


@dataclass
class Followed(FakeRun):
    log: list[str] = field(default_factory=list)

    def watch(self) -> Any:
        self.log.append(f"watched {self.name[-1]}")
        return super().watch()


def replace_instances(count: int) -> Any:
    return make_sweep(train__instances=count, space={"lr": [0.1]}, runtime=1)


@pytest.fixture
def scaling(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeScaling:
    made = FakeScaling()
    monkeypatch.setattr(module, "Scaling", lambda _: made)
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "train.py").touch()
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    return made


def scale(sweep: Sweep, *words: str) -> Any:
    return sweep("scale", "sweep.yaml", "--yes", *words)


def test_it_tells_how_much_faster_it_is_and_what_to_write_down(sweep: Sweep, scaling: FakeScaling) -> None:
    ended = scale(sweep, "--instances", "2,1")
    assert ended.code == 0
    assert [line.split() for line in ended.out.splitlines()] == [
        ["INSTANCES", "TIME", "SPEED-UP", "IDEAL", "EFFICIENCY", "COST"],
        ["1", "16m40s", "1.00", "1", "100%", "$0.0042"],
        ["2", "8m40s", "1.92", "2", "96%", "$0.0042"],
    ]
    assert "`efficiency: 0.962` under `train:` tells the planner so" in ended.err
    assert scaling.asked == [Asked((1, 2))]


def test_it_says_first_what_is_trained_and_for_how_much(sweep: Sweep, scaling: FakeScaling) -> None:
    err = scale(sweep, "--instances", "1,2", "--dataset", "alps@1", "--point", "3", "--name", "mine").err
    assert err.startswith("one training on alps@1, on sagemaker/us-east-1/ml.g5.xlarge/on_demand:\n")
    assert scaling.asked == [Asked((1, 2), "alps@1", 3, "mine")]


def test_a_run_whose_slots_another_one_holds_begins_when_that_has_ended(sweep: Sweep, scaling: FakeScaling) -> None:
    scaling.refusals = 1
    assert scale(sweep, "--instances", "1,2").code == 0
    assert scaling.log == ["began 1", "refused 2", "watched 1", "began 2", "watched 1", "watched 2"]


def test_slots_that_others_hold_are_refused(sweep: Sweep, scaling: FakeScaling) -> None:
    scaling.refusals = 5
    ended = scale(sweep, "--instances", "1,2")
    assert (ended.code, "the slots are taken" in ended.err) == (6, True)
    assert ended.out == ""


def test_what_has_failed_is_told_after_what_is_known_of_the_others(sweep: Sweep, scaling: FakeScaling) -> None:
    scaling.failing = (2,)
    ended = scale(sweep, "--instances", "1,2")
    assert ended.code == 1
    assert ended.out.splitlines()[1].split()[:2] == ["1", "16m40s"]
    assert "`efficiency" not in ended.err


def test_json_has_all_of_it(sweep: Sweep, scaling: FakeScaling) -> None:  # noqa: ARG001
    told = json.loads(scale(sweep, "--instances", "1,2", "--json").out)
    assert told["runs"] == ["grid-scale-1", "grid-scale-2"]
    assert [row["speedup"] for row in told["rows"]] == [1.0, pytest.approx(1000 / 520)]
    assert told["efficiency"] == pytest.approx(1000 / 520 / 2)


def test_it_is_drawn(sweep: Sweep, scaling: FakeScaling, tmp_path: Path) -> None:  # noqa: ARG001
    assert "wrote s.svg" in scale(sweep, "--instances", "1,2", "--plot", "s.svg").err
    assert "ideal" in (tmp_path / "s.svg").read_text()


@pytest.mark.parametrize("counts", ["", "x", "0", "1,,2", "-1", "1.5", "1,20000", "1;2"])
def test_what_are_no_numbers_is_refused(sweep: Sweep, scaling: FakeScaling, counts: str) -> None:
    ended = scale(sweep, f"--instances={counts}")
    assert (ended.code, scaling.asked) == (2, [])
    assert ended.err.count("\n") == 1
