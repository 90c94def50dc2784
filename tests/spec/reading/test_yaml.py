"""YAML's plain words mean what a reader would think."""

from __future__ import annotations

import math
from typing import Any

import pytest

from orchestrator.errors import SpecError
from orchestrator.spec.reading.yaml import Position, load


def value(text: str) -> Any:
    return load(text, "x").value


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1e-4", 1e-4),
        ("1E5", 1e5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-3", -3),
        ("010", 10),
        ("0x1F", 31),
        ("0o17", 15),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2026-03-01", "2026-03-01"),
        ("no", "no"),
        ("NO", "NO"),
        ("on", "on"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("'1e-4'", "1e-4"),
        ('"true"', "true"),
        ("-.inf", -math.inf),
        ("<<", "<<"),
        ("1.2.3", "1.2.3"),
        ("infinity", "infinity"),
    ],
)
def test_a_plain_word_means(text: str, meant: object) -> None:
    found = value(text)
    assert (found, type(found)) == (meant, type(meant))


def test_keys_are_text_however_they_look() -> None:
    assert value("{1: a, on: b, no: c}") == {"1": "a", "on": "b", "no": "c"}


def test_an_anchor_may_be_used_again() -> None:
    assert value("a: &x [1]\nb: *x") == {"a": [1], "b": [1]}


def test_aliases_of_aliases_are_refused_before_they_take_time() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40))
    with pytest.raises(SpecError, match=r"x:4:5: aliases repeat more than 10,000 values by this one"):
        load(text, "x")


def test_many_values_that_are_written_out_are_read() -> None:
    assert len(value(f"[{', '.join(map(str, range(30_000)))}]")) == 30_000


def test_a_number_too_long_for_python_is_no_crash() -> None:
    assert value("9" * 5000) == math.inf


def test_two_documents_are_refused() -> None:
    with pytest.raises(
        SpecError, match=r"x:2:1: not YAML: expected a single document in the stream, but found another document"
    ):
        load("a: 1\n---\nb: 2", "x")


def test_a_part_is_found_by_its_path() -> None:
    document = load("a:\n  - b: 'c'\n", "x")
    assert document.position(("a", 0, "b")) == Position(2, 8)
    assert document.position(("a", 0, "b"), of_key=True) == Position(2, 5)
    assert document.position(("a", 0, "missing", "deeper")) == Position(2, 5)
    assert document.quoted(("a", 0, "b"))
