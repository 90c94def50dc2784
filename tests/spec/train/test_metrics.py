"""`train.metrics`: names that the training reports, regexes over its log, or both."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from orchestrator.spec.sweep import Sweep
from tests.fixtures.sweeps import make_sweep

REPORTED = "[sweep] step=3 val_loss=0.5 loss=0.25\n"


def metrics(written: Any) -> dict[str, str]:
    return make_sweep(train__metrics=written).train.metrics


@pytest.mark.parametrize("written", [["loss", "val_loss"], {"loss": None, "val_loss": None}])
def test_metrics_without_a_regex_are_those_the_training_reports(written: Any) -> None:
    found = {name: re.search(regex, REPORTED) for name, regex in metrics(written).items()}
    assert {name: match and match[1] for name, match in found.items()} == {"loss": "0.25", "val_loss": "0.5"}


def test_some_may_be_reported_and_others_found_by_a_regex() -> None:
    made = metrics({"loss": None, "accuracy": "acc: ([0-9.]+)%"})
    assert made["accuracy"] == "acc: ([0-9.]+)%"
    assert "sweep" in made["loss"]


def test_a_reported_metric_can_be_the_objective() -> None:
    sweep = make_sweep(train__metrics=["loss"], objective={"minimize": "loss"})
    assert Sweep.model_validate(sweep.model_dump(mode="json")) == sweep


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["loss", "loss"], "'loss' is listed twice"),
        (["loss", 1], "expected a metric's name, got 1"),
        ([["loss"]], "expected a metric's name, got a list"),
        (["val loss"], "'val loss' cannot name a reported metric"),
        ([""], "'' cannot name a reported metric"),
        ({"a=b": None}, "'a=b' cannot name a reported metric"),
        ({1: None}, "valid string"),
        ("loss", "expected a list of metrics, got 'loss'"),
    ],
)
def test_names_that_no_report_can_have_are_refused(written: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        metrics(written)
    assert said in str(caught.value)
