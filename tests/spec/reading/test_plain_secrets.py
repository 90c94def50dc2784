"""A sweep file with a secret in it is refused, in words that do not repeat the secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.spec.reading.plain_secrets import find_plain_secrets
from orchestrator.spec.train.environment import plain_variables
from tests.fixtures.sweeps import make_sweep
from tests.test_secrecy import KEYS

if TYPE_CHECKING:
    from orchestrator.spec.reading.mistakes import Mistake


def found(**changes: Any) -> list[Mistake]:
    return list(find_plain_secrets(make_sweep(**changes)))


@pytest.mark.parametrize("kind", KEYS)
def test_a_value_that_looks_like_a_key_is_refused_and_never_repeated(kind: str) -> None:
    key = KEYS[kind]()
    (mistake,) = found(train__environment={"A": "1", "SOME_NAME": key})
    assert mistake.message == f"the value of SOME_NAME looks like {kind}, and would be in every plan"
    assert mistake.at == ("train", "environment", "SOME_NAME")
    assert "{ssm: /NAME}" in mistake.hint
    assert key not in f"{mistake.message} {mistake.hint}"
    assert found(train__environment={"SOME_NAME": {"value": key, "plain": True}}) == []


def test_a_name_that_sounds_like_a_secret_is_refused_unless_the_file_says_that_it_is_plain() -> None:
    (mistake,) = found(train__environment={"WANDB_API_KEY": "hunter2"})
    assert mistake.message == "WANDB_API_KEY sounds like a secret, which would be in every plan"
    assert "plain: true" in mistake.hint
    assert found(train__environment={"WANDB_API_KEY": "", "DB_PASSWORD": {"ssm": "/db"}}) == []
    plain = {"PAD_TOKEN": {"value": "<pad>", "plain": True}}
    assert found(train__environment=plain) == []
    assert plain_variables(make_sweep(train__environment=plain).train.environment) == {"PAD_TOKEN": "<pad>"}


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"train__hyperparameters": {"hub": "{key}"}}, ("train", "hyperparameters", "hub")),
        ({"space": {"hub": ["b", "{key}"]}, "runtime": 1.0}, ("space", "hub", 1)),
        (
            {"space": {"both": {"zip": {"a": [1, 2], "hub": ["{key}", "b"]}}}, "runtime": 1.0},
            ("space", "both", "zip", "hub", 0),
        ),
        ({"train__hyperparameters": {"a": {"b": ["{key}"]}}}, ("train", "hyperparameters", "a", "b", 0)),
        ({"platforms": {"sagemaker": {"request": {"X": "{key}"}}}}, ("platforms", "sagemaker", "request", "X")),
        ({"train__arguments": {"positional": ["a", "{key}"]}}, ("train", "arguments", "positional", 1)),
    ],
)
def test_a_key_on_its_way_to_a_command_line_is_refused(changes: dict[str, Any], at: tuple[str | int, ...]) -> None:
    key = KEYS["a GitHub token"]()

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: put(each) for name, each in value.items()}
        if isinstance(value, list):
            return [put(each) for each in value]
        return key if value == "{key}" else value

    (mistake,) = found(**put(changes))
    assert mistake.at == at
    assert mistake.message == "this looks like a GitHub token, and would be in every plan, command line and log"
