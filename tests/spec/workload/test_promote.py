"""The rules of `promote` must be such that somebody can go by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from orchestrator.errors import SpecError
from orchestrator.spec.reading.reader import read
from orchestrator.spec.sweep import Sweep
from tests.fixtures.sweeps import make_sweep, sweep_body

if TYPE_CHECKING:
    from pathlib import Path

MEASURED: dict[str, Any] = {"train__metrics": ["loss", "recall"], "objective": {"minimize": "loss"}}


@pytest.mark.parametrize(
    ("rules", "objective", "said"),
    [
        ({"min_delta": -1}, True, "promote"),
        ({"min_delta": float("nan")}, True, "finite"),
        ({"min_delta": "1"}, True, "expected a number"),
        ({"floor": True}, True, "expected a number"),
        ({"min_deltas": 1}, True, "did you mean 'min_delta'"),
        ({"guards": [{"maximize": "recal"}]}, True, "did you mean 'recall'"),
        ({"guards": [{"tolerance": 1}]}, True, "either minimize or maximize"),
        ({"guards": [{"maximize": "recall"}, {"minimize": "recall"}]}, True, "has two guards"),
        ({"evaluation": "test"}, True, "not a channel of train.channels (train.channels is empty)"),
        ({}, False, "without an objective"),
    ],
)
def test_a_mistake_is_a_line_with_its_place(tmp_path: Path, rules: Any, objective: bool, said: str) -> None:
    body = sweep_body(**{**MEASURED, "promote": rules})
    if not objective:
        del body["objective"]
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "train.py").write_text("")
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump(body))
    with pytest.raises(SpecError) as raised:
        read(file)
    assert said in str(raised.value)
    assert raised.value.where.startswith(f"{file}:")
    assert raised.value.where.count(":") == 2


def test_a_sweep_without_rules_is_stored_as_it_always_was() -> None:
    assert "promote" not in make_sweep(**MEASURED).model_dump(mode="json")
    kept = make_sweep(**MEASURED, promote={"floor": 2}).model_dump(mode="json")
    made = Sweep.model_validate(kept).promote
    assert made is not None
    assert made.floor == 2
