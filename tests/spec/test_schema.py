"""The schema that editors complete the sweep file by says what the reader says."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.spec.schema import schema
from tests.fixtures.sweeps import sweep_body

WHOLE = schema({"sagemaker": SageMakerPlanning.asks})


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(WHOLE)
    return Draft202012Validator(WHOLE)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"train__parallel": "horovod"},
        {"runtime": 2},
        {"runtime": None, "sizes": ["epochs"]},
        {"data": {"recorded_from": "2026-01-01"}},
        {"train__instances": [1, 2, 4], "train__checkpoints": {"any_instances": True}},
        {"space": {"a": "bool", "b": {"range": [1, 9], "step": 2}, "c": {"zip": {"d": [1], "e": ["x"]}}}},
        {"where": {"resources": {"gpus": 4, "gpu_memory": "16GB", "gpu": ["A10G"], "efa": True}, "platforms": ["ec2"]}},
        {"platforms": {"another": {"warm_pool": "30m"}}},
        {"platforms": {"sagemaker": {"channels": {"training": {"input_mode": "FastFile"}}}}},
        {"train__channels": {"a": "s3://team/a", "b": {"eu-west-1": "s3://team/b"}}},
        {"space": {"a": {"linear": [0, 1], "num": 3}, "b": {"log": [1e-3, 1], "num": 3}}},
    ],
)
def test_a_good_file_is_valid(validator: Draft202012Validator, changes: dict[str, Any]) -> None:
    assert [error.message for error in validator.iter_errors(sweep_body(**changes))] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"nmae": "x"},
        {"folder": "x"},
        {"train__sorce": "x"},
        {"train__parallel": "torchran"},
        {"space": {"a": {"range": [1, 9], "stp": 2}}},
        {"space": {"a": 3}},
        {"retries": 11},
        {"where": {}},
        {"where": {"resources": {"memory": "64"}}},
        {"where__named_types": []},
        {"train__instances": [0]},
        {"train__instances": []},
        {"train__instances": list(range(1, 10))},
        {"platforms": {"sagemaker": 3}},
        {"platforms": {"sagemaker": {"warm_pool": "30m"}}},
        {"platforms": {"sagemaker": {"channels": {"training": {"input_mode": "Slow"}}}}},
        {"train__channels": {"a": 3}},
    ],
)
def test_a_wrong_file_is_not(validator: Draft202012Validator, changes: dict[str, Any]) -> None:
    assert not validator.is_valid(sweep_body(**changes))


def test_every_key_is_described() -> None:
    definitions = WHOLE["$defs"] | {"Sweep": WHOLE}
    bare = [
        f"{name}.{key}"
        for name, definition in definitions.items()
        for key, value in definition.get("properties", {}).items()
        if "description" not in value and "$ref" not in value
    ]
    assert bare == []
