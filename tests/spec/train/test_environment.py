"""Variables of trainings: text, and secrets by reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from orchestrator.spec.train.environment import plain_variables, references
from orchestrator.training.references import Reference
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from orchestrator.spec.train.train import Train

ACCOUNT = "123456789012"


def train(environment: dict[str, Any]) -> Train:
    return make_sweep(train__environment=environment).train


def refusal(environment: dict[str, Any]) -> dict[str, Any]:
    with pytest.raises(ValidationError) as caught:
        train(environment)
    error = caught.value.errors()[0]
    return {"type": error["type"], **error.get("ctx", {})}


def test_a_secret_is_a_reference_wherever_the_training_runs() -> None:
    given = train(
        {
            "EPOCHS": "3",
            "WANDB_API_KEY": {"ssm": "/team/wandb"},
            "HF_TOKEN": {"ssm": "hf", "region": "us-east-1"},
            "DB_PASSWORD": {"secret": "team/db", "field": "password"},
            "KEY": {"secret": "arn:aws:secretsmanager:us-west-2:210987654321:secret:k-AbCdEf"},
        }
    ).environment
    assert plain_variables(given) == {"EPOCHS": "3"}
    found = {name: str(one) for name, one in references(given, "eu-west-1", ACCOUNT).items()}
    assert found == {
        "WANDB_API_KEY": "ssm:eu-west-1:/team/wandb",
        "HF_TOKEN": "ssm:us-east-1:hf",
        "DB_PASSWORD": f"secret:arn:aws:secretsmanager:eu-west-1:{ACCOUNT}:secret:team/db#password",
        "KEY": "secret:arn:aws:secretsmanager:us-west-2:210987654321:secret:k-AbCdEf",
    }
    assert {name: Reference.parse(text) for name, text in found.items()} == references(given, "eu-west-1", ACCOUNT)


@pytest.mark.parametrize(("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")])
def test_an_arn_is_of_the_regions_partition(region: str, partition: str) -> None:
    found = references(train({"X": {"secret": "s"}}).environment, region, ACCOUNT)
    assert found["X"].name == f"arn:{partition}:secretsmanager:{region}:{ACCOUNT}:secret:s"


@pytest.mark.parametrize(
    "value",
    [
        {"ssm": ""},
        {"ssm": "a b"},
        {"ssm": "/a", "region": "here"},
        {"ssm": "/a", "secret": "b"},
        {"secret": "arn:aws:s3:::bucket"},
        {"secret": "a", "field": ""},
        {"secret": "a", "field": "a b"},
        {"value": "a"},
        {"value": "a", "plain": False},
        {"ssn": "/team/wandb"},
        {},
        ["a"],
        1,
        None,
    ],
)
def test_what_is_neither_text_nor_a_reference_is_refused(value: Any) -> None:
    assert refusal({"X": value})


@pytest.mark.parametrize("name", ["", "1X", "A-B", "A B", "SWEEP_SECRET_X", "SWEEP_RUN", "SM_HPS", "X\n"])
def test_names_are_those_of_variables_and_none_of_ours(name: str) -> None:
    assert refusal({name: "1"})


def test_what_an_image_starts_by_itself_may_be_told_what_the_toolkit_would_say() -> None:
    given = {"SM_MODEL_DIR": "/opt/ml/model"}
    sweep = make_sweep(train__entry_point="image", train__source=None, train__environment=given)
    assert sweep.train.environment == given
