"""What a training starts: a script, a command, or what its image starts; and the words in braces."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestrator.spec.sweep import Sweep
from orchestrator.spec.train.filled_in import find_unnamed
from tests.fixtures.sweeps import sweep_body

SPACE = {"lr": [0.1, 0.2], "no_cuda": "bool"}


def made(train: dict[str, Any]) -> Sweep:
    body = sweep_body(space=SPACE)
    return Sweep.model_validate(body | {"runtime": 1, "train": {"image": "x"} | train})


def refusal(train: dict[str, Any]) -> tuple[str, tuple[str | int, ...]]:
    """Return the message of the first error, and the path to it."""
    with pytest.raises(ValidationError) as caught:
        made(train)
    error = caught.value.errors()[0]
    return error["ctx"]["message"], (*error["loc"], *error["ctx"]["at"])


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python -m pkg {data} --lr={lr}", ["python", "-m", "pkg", "{data}", "--lr={lr}"]),
        ("sh -c 'ln -s {data} data; exec python t.py'", ["sh", "-c", "ln -s {data} data; exec python t.py"]),
        (["python", "a b.py", "{arguments}"], ["python", "a b.py", "{arguments}"]),
    ],
)
def test_a_command_is_one_text_or_its_words(command: Any, words: list[str]) -> None:
    train = made({"command": command}).train
    assert (train.command_words, train.script, train.source) == (words, None, None)


def test_an_entry_point_is_a_command_too() -> None:
    train = made({"entry_point": "t.py", "source": "code", "arguments": {"positional": ["{data}"]}}).train
    assert train.command_words == ["t.py", "{data}", "{arguments}"]


def test_the_image_may_start_what_it_always_starts() -> None:
    train = made({"entry_point": "image", "environment": {"LR": "{lr}"}}).train
    assert (train.starts_image, train.script, train.command_words) == (True, None, [])


@pytest.mark.parametrize(
    ("train", "said", "at"),
    [
        ({}, "nothing to start", ()),
        ({"source": "code"}, "nothing to start", ()),
        ({"entry_point": "t.py"}, "train.source is missing", ("entry_point",)),
        ({"entry_point": "t.py", "source": "c", "command": "x"}, "entry_point and command exclude", ("command",)),
        ({"command": ""}, "the command is empty", ("command",)),
        ({"command": []}, "the command is empty", ("command",)),
        ({"command": 7}, "expected a command, got 7", ("command",)),
        ({"command": ["x", 7]}, "expected a word, got 7", ("command", 1)),
        ({"command": "x 'y"}, "the command cannot be split into words: no closing quotation", ("command",)),
        ({"command": "x {lrr}"}, "{lrr} stands for nothing", ("command", 1)),
        ({"command": "x {data:val}"}, "{data:val} stands for nothing", ("command", 1)),
        ({"command": "x --{arguments}"}, "{arguments} is several words", ("command", 1)),
        ({"command": ["x", "a\0"]}, "a NUL character", ("command", 1)),
        (
            {"command": "x", "arguments": {"positional": ["{lr}"]}},
            "the command has its words already",
            ("arguments", "positional"),
        ),
        ({"entry_point": "image", "source": "c"}, "what the image starts gets no source", ("source",)),
        (
            {"entry_point": "image", "arguments": {"joined": True}},
            "what the image starts has no arguments",
            ("arguments",),
        ),
        ({"entry_point": "image", "parallel": "mpi"}, "the image decides how its processes start", ("parallel",)),
        ({"command": "x", "environment": {"A": "{lrr}"}}, "{lrr} stands for nothing", ("environment", "A")),
        ({"command": "x", "environment": {"A": "{arguments}"}}, "{arguments} is several words", ("environment", "A")),
    ],
)
def test_what_cannot_start_is_refused_at_its_place(train: dict[str, Any], said: str, at: tuple[str | int, ...]) -> None:
    message, where = refusal(train)
    assert message.startswith(said)
    assert where == ("train", *at)


def unnamed(train: dict[str, Any]) -> tuple[str, ...]:
    sweep = made(train)
    return find_unnamed(sweep.train, sweep.parameters)


def test_parameters_that_the_command_does_not_name_are_known() -> None:
    assert unnamed({"command": "x {lr}"}) == ("no_cuda",)
    assert unnamed({"command": "x {lr}", "environment": {"CPU": "{no_cuda}"}}) == ()
    assert unnamed({"command": "x {arguments}"}) == ()
    assert unnamed({"entry_point": "image"}) == ()


@pytest.mark.parametrize("text", ["{}", "${X}", '{"a": {"b": 1}}', "{{lrr}}", "{ lr }"])
def test_braces_that_are_no_names_stay(text: str) -> None:
    if text == "${X}":
        assert refusal({"command": "x", "environment": {"A": text}})[0] == "{X} stands for nothing"
    else:
        assert made({"command": "x", "environment": {"A": text}}).train.environment["A"] == text
