"""Runtime expressions: arithmetic, and nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.spec.space.runtime_expression import MAX_LENGTH, ExpressionError, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.4 * epochs", 4.0),
        ("(epochs + 2) / 3 - 1", 3.0),
        ("epochs // 3 % 2 ** 2", 3.0),
        ("-epochs + +11", 1.0),
        ("min(epochs, 3, 4)", 3.0),
        ("max(1, epochs)", 10.0),
        ("sqrt(epochs * epochs)", 10.0),
        ("log(epochs)", math.log(10)),
        ("  2  ", 2.0),
        ("flag * 2", 2.0),
    ],
)
def test_arithmetic_is_understood(text: str, value: float) -> None:
    assert float(parse(text)({"epochs": 10, "flag": True})) == value


@pytest.mark.parametrize(
    ("text", "offset", "said"),
    [
        ("__import__('os').system('x')", 0, "only numbers, names"),
        ("  open(epochs)", 2, "unknown function 'open'"),
        ("sqr(2)", 0, "unknown function 'sqr'"),
        ("1 + sqrt(1, 2)", 4, "sqrt takes one argument"),
        ("min(1)", 0, "min takes two or more arguments"),
        ("max", 0, "max is a function"),
        ("epochs if epochs else 1", 0, "only numbers, names"),
        ("2 * epochs.real", 4, "only numbers, names"),
        ("[1][0]", 0, "only numbers, names"),
        ("epochs < 3", 0, "only numbers, names"),
        ("'a' * 3", 0, "only numbers, names"),
        ("1j", 0, "only numbers and names"),
        ("True", 0, "only numbers and names"),
        ("lambda: 1", 0, "only numbers, names"),
        ("log(x=1)", 0, "only numbers, names"),
        ("~1", 0, "only numbers, names"),
        ("(" * 250 + "1" + ")" * 250, 0, "too long"),
        ("1" * (MAX_LENGTH + 1), 0, "too long"),
    ],
)
def test_anything_else_is_refused_at_its_place(text: str, offset: int, said: str) -> None:
    with pytest.raises(ExpressionError, match=said) as caught:
        parse(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize("text", ["", "1 +", "2 * (epochs", "epochs; 1", "1 = 2", "a b", "\0", "(" * 140 + "1"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="not an expression"):
        parse(text)


def test_names_are_known_with_their_place() -> None:
    assert parse(" a * b + a").names == {"a": 1, "b": 5}


def test_a_column_of_sizes_gives_a_column_of_hours() -> None:
    assert parse("max(a, 2) * b")({"a": np.array([1, 3]), "b": 0.5}).tolist() == [1.0, 1.5]


@pytest.mark.parametrize("text", ["9 ** 9 ** 9", "1 / 0", "log(0 - 1)", "1" * 300, "1e999"])
def test_what_has_no_answer_is_no_crash(text: str) -> None:
    parse(text)({})


@given(st.text(max_size=40))
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        parse(text)
    except ExpressionError as error:
        assert 0 <= error.offset <= len(text) + 1  # noqa: PT017 - parsing may also succeed
