"""Better is better by the objective, by enough, without losing elsewhere, and on the same data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.models.judge import judge
from orchestrator.models.promotion import Evaluation, Promotion, TrainedModel
from orchestrator.spec.workload.promote import Promote

MODEL = TrainedModel("steering", "monday", 0, 1, "s3://b/model.tar.gz", "eu-west-1", "loss", maximize=False, score=0.5)
TEST = Evaluation("test", "s3://b/test/", "0123456789abcdef")


def champion(**changes: Any) -> Promotion:
    return Promotion(1, replace(MODEL, **changes), "challenge", "first", "ada", 0.0, origin=1)


def verdict(rules: dict[str, Any], held: dict[str, Any] | None = None, **changes: Any) -> tuple[bool, str]:
    found = judge(replace(MODEL, **changes), champion(**(held or {})), Promote.model_validate(rules))
    return found.better, found.why


@pytest.mark.parametrize(
    ("rules", "score", "better", "why"),
    [
        ({}, 0.49, True, "it is better: its loss is 0.49, the champion's 0.5"),
        ({}, 0.5, False, "it is no better: its loss is 0.5, the champion's 0.5"),
        ({"min_delta": 0.1}, 0.41, False, "it is better by less than 0.1: its loss is 0.41, the champion's 0.5"),
        ({"min_delta": 0.1}, 0.4, True, "it is better: its loss is 0.4, the champion's 0.5"),
        ({"floor": 0.3}, 0.4, False, "its loss of 0.4 is above the floor of 0.3"),
        ({}, None, False, "it has no loss that is a finite number"),
        ({}, float("nan"), False, "it has no loss that is a finite number"),
        ({}, float("-inf"), False, "it has no loss that is a finite number"),
    ],
)
def test_the_objective_decides(rules: dict[str, Any], score: float, better: bool, why: str) -> None:
    assert verdict(rules, score=score) == (better, why)


def test_a_difference_that_is_just_enough_is_enough_however_numbers_are_kept() -> None:
    held = {"score": 0.8, "maximize": True}
    assert verdict({"min_delta": 0.1}, held, score=0.9, maximize=True)[0]  # 0.9 - 0.8 < 0.1


def test_the_first_of_a_workload_must_keep_to_the_floor_as_well() -> None:
    rules = Promote(floor=0.4)
    assert not judge(MODEL, None, rules).better
    assert judge(replace(MODEL, score=0.4), None, rules).better


@pytest.mark.parametrize(
    ("guard", "value", "better", "why"),
    [
        ({"maximize": "recall"}, 0.89, False, "its recall got worse: it is 0.89, the champion's 0.9"),
        ({"maximize": "recall", "tolerance": 0.01}, 0.89, True, ""),
        ({"maximize": "recall"}, 0.9, True, ""),
        ({"minimize": "recall"}, 0.89, True, ""),
        ({"minimize": "recall"}, 0.91, False, "its recall got worse: it is 0.91, the champion's 0.9"),
        ({"minimize": "latency"}, 0.9, False, "it has no latency that is a finite number, and that is a guard"),
    ],
)
def test_a_guard_may_not_get_worse(guard: dict[str, Any], value: float, better: bool, why: str) -> None:
    found = verdict({"guards": [guard]}, {"metrics": {"recall": 0.9}}, score=0.1, metrics={"recall": value})
    assert found[0] is better
    assert why in found[1]


def test_a_guard_that_the_champion_never_measured_is_said_and_holds_nothing_back() -> None:
    found = judge(
        replace(MODEL, score=0.1, metrics={"recall": 0.1}),
        champion(),
        Promote.model_validate({"guards": [{"maximize": "recall"}]}),
    )
    assert found.better
    assert found.notes == ("the champion has no recall, so this guard holds nothing back",)


def test_a_model_that_was_left_nowhere_is_no_champion() -> None:
    assert verdict({}, score=0.1, artifact="") == (False, "it has left no model in S3")


@pytest.mark.parametrize("held", [{"metric": "accuracy"}, {"maximize": True}, {"metric": ""}, {"score": None}])
def test_another_objective_cannot_be_compared(held: dict[str, Any]) -> None:
    better, why = verdict({}, held, score=0.1)
    assert not better
    assert why.endswith("they cannot be compared")


def test_other_evaluation_data_is_said_and_with_a_channel_for_it_refused() -> None:
    other = replace(TEST, mark="fedcba9876543210")
    rules = Promote(evaluation="test")
    found = judge(replace(MODEL, score=0.1, evaluation=other), champion(evaluation=TEST), rules)
    assert not found.better
    assert found.why == (
        "it was measured on s3://b/test/ (fedcba987654), the champion on s3://b/test/ (0123456789ab): "
        "they cannot be compared"
    )
    elsewhere = replace(TEST, data="s3://b-eu/test/")  # a copy in another Region
    assert judge(replace(MODEL, score=0.1, evaluation=elsewhere), champion(evaluation=TEST), rules).better
    alps, coast = Evaluation(data="alps@1"), Evaluation(data="coast@1")
    noted = judge(replace(MODEL, score=0.1, evaluation=coast), champion(evaluation=alps), None)
    assert noted.better
    assert noted.notes == ("it was measured on coast@1, the champion on alps@1",)


def test_data_that_nobody_can_tell_is_not_taken_for_the_same() -> None:
    unknown = replace(TEST, mark="")
    assert not unknown.is_same(TEST)
    assert not unknown.is_same(unknown)
    assert TEST.is_same(TEST)
    assert Evaluation(data="alps@1").is_same(Evaluation(data="alps@1", mark="x"))
    assert not Evaluation(data="alps@1", mark="y").is_same(Evaluation(data="alps@1", mark="x"))


FINITE = st.floats(-1e6, 1e6)


@given(new=FINITE, old=FINITE, delta=st.floats(0, 1e3), maximize=st.booleans())
def test_two_models_never_dethrone_each_other(new: float, old: float, delta: float, maximize: bool) -> None:
    rules = Promote(min_delta=delta)
    one, other = (replace(MODEL, score=score, maximize=maximize) for score in (new, old))
    there = judge(one, replace(champion(), model=other), rules).better
    back = judge(other, replace(champion(), model=one), rules).better
    assert not (there and back)
    assert not there or (new > old if maximize else new < old)


@pytest.mark.parametrize(
    ("rules", "changes", "rule"),
    [
        ({}, {"score": 0.4}, ""),
        ({}, {"score": 0.6}, "objective"),
        ({}, {"artifact": "", "score": 0.1}, "a model in S3"),
        ({"floor": 0.3}, {"score": 0.4}, "promote.floor"),
        ({"min_delta": 0.2}, {"score": 0.4}, "promote.min_delta"),
        ({"guards": [{"maximize": "recall"}]}, {"score": 0.4}, "promote.guards: recall"),
        ({"evaluation": "test"}, {"score": 0.4, "evaluation": TEST}, "promote.evaluation"),
    ],
)
def test_the_rule_that_is_broken_is_named(rules: dict[str, Any], changes: dict[str, Any], rule: str) -> None:
    assert judge(replace(MODEL, **changes), champion(), Promote.model_validate(rules)).rule == rule
