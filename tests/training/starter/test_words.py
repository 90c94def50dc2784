"""Which words a command line gets, in each style: held against argparse, which most scripts read them with."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.training.starter.words import Arguments, fill, make_command, names_in, option_name

PARAMETERS = {"learning_rate": 0.001, "no-cuda": True, "amp": False, "n": 3, "layers": [64, 32], "name": "a b"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            Arguments(),
            "--amp|False|--layers|[64, 32]|--learning_rate|0.001|-n|3|--name|a b|--no-cuda|True",
        ),
        (
            Arguments(style="dashes", joined=True),
            "--amp=False|--layers=[64, 32]|--learning-rate=0.001|-n|3|--name=a b|--no-cuda=True",
        ),
        (
            Arguments(style="underscores", on_off="flag", lists="words"),
            "--layers|64|32|--learning_rate|0.001|-n|3|--name|a b|--no_cuda",
        ),
        (
            Arguments(on_off="pair", lists="repeated"),
            "--no-amp|--layers|64|--layers|32|--learning_rate|0.001|-n|3|--name|a b|--no-cuda",
        ),
        (
            Arguments(joined=True, lists="repeated", on_off="flag"),
            "--layers=64|--layers=32|--learning_rate=0.001|-n|3|--name=a b|--no-cuda",
        ),
    ],
)
def test_parameters_are_options_in_the_scripts_style(arguments: Arguments, expected: str) -> None:
    assert "|".join(arguments.options(PARAMETERS)) == expected


def test_the_words_are_what_argparse_reads_back() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--no-cuda", action="store_true")
    parser.add_argument("--amp", action=argparse.BooleanOptionalAction)
    parser.add_argument("--layers", type=int, nargs="+")
    parser.add_argument("-n", type=int)
    parser.add_argument("--name")
    arguments = Arguments(style="dashes", on_off="flag", lists="words")
    template = ["{data}", "--no-amp", "{arguments}"]
    words = make_command(template, arguments, PARAMETERS, {"data": "/data"})
    assert vars(parser.parse_args(words)) == {
        "folder": "/data",
        "learning_rate": 0.001,
        "no_cuda": True,
        "amp": False,
        "layers": [64, 32],
        "n": 3,
        "name": "a b",
    }


def test_what_a_command_names_is_no_option_too() -> None:
    command = ["{arch}", "--lr={lr}", "x{data:val}y", "{arguments}", "{layers}", "{{lr}}"]
    parameters = {"arch": "vit", "lr": 0.1, "epochs": 3, "layers": [1, 2]}
    words = make_command(command, Arguments(), parameters, {"data:val": "/v", "data": "/d"})
    assert words == ["vit", "--lr=0.1", "x/vy", "--epochs", "3", "1", "2", "{lr}"]


@pytest.mark.parametrize("text", ["{}", "{ lr }", '{"a": {"b": 1}}', "{0}", "${HOME}x{", "a}b", "{lr"])
def test_braces_around_anything_but_a_name_are_left_alone(text: str) -> None:
    names = [name for name in names_in(text) if name != "HOME"]
    assert names == []
    assert fill(text, lambda name: f"{{{name}}}") == text


@given(st.text(alphabet="ab_-{}: ", max_size=20))
def test_a_text_without_names_is_what_it_was(text: str) -> None:
    if not names_in(text) and "{{" not in text:
        assert fill(text, str.upper) == text


def test_a_name_that_stands_for_nothing_is_an_error() -> None:
    with pytest.raises(KeyError, match="lrr"):
        make_command(["{lrr}"], Arguments(), {"lr": 1}, {})


@pytest.mark.parametrize(
    ("style", "expected"), [("as_written", "a_b-c"), ("dashes", "a-b-c"), ("underscores", "a_b_c"), ("", "a_b-c")]
)
def test_a_name_is_written_as_the_style_says(style: str, expected: str) -> None:
    assert option_name("a_b-c", style) == expected


@pytest.mark.parametrize(
    ("value", "word"),
    [(None, ""), (True, "True"), (1e-5, "1e-05"), ({"b": 1, "a": [2]}, "a=[2],b=1"), ([1, 2], "[1, 2]")],
)
def test_a_value_is_written_as_the_toolkit_writes_it(value: Any, word: str) -> None:
    assert Arguments().options({"x2": value}) == ["--x2", word]
