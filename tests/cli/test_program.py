from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.program import app, global_options, move_to_front, own_options

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


EVERY = dict(commands())
OPTIONS = global_options(typer.main.get_command(app))


def test_every_command_speaks_json() -> None:
    for name, command in EVERY.items():
        assert any("--json" in option.opts for option in command.params), name


def test_every_command_says_what_it_does_and_gives_an_example_of_itself() -> None:
    for name, command in EVERY.items():
        assert command.help.split("\n")[0].endswith("."), name
        assert any(line.startswith("Example: ") and name in line for line in command.help.splitlines()), name


def test_every_option_is_explained() -> None:
    assert [
        (name, option.name) for name, command in EVERY.items() for option in command.params if not option.help
    ] == []


@pytest.mark.parametrize(
    ("typed", "parsed"),
    [
        ("runs --json --debug", "--debug runs --json"),
        ("runs --profile research -v", "--profile research -v runs"),
        ("runs --region=eu-west-1", "--region=eu-west-1 runs"),
        ("--database sqlite:///a.db runs", "--database sqlite:///a.db runs"),
        ("plan -- --debug", "plan -- --debug"),
        ("runs --profile", "--profile runs"),
    ],
)
def test_global_options_are_moved_in_front(typed: str, parsed: str) -> None:
    assert move_to_front(typed.split(), OPTIONS) == parsed.split()


@given(st.lists(st.sampled_from([*OPTIONS, "--", "runs", "--json", "x"])))
def test_moving_options_loses_and_adds_nothing(words: list[str]) -> None:
    assert sorted(move_to_front(words, OPTIONS)) == sorted(words)


@given(st.lists(st.sampled_from(["runs", "--json", "x", "--task", "3"])))
def test_everything_else_stays_in_order(words: list[str]) -> None:
    assert move_to_front(words, OPTIONS) == words


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        ("catalog refresh --region eu-west-1", True),
        ("--profile catalog catalog refresh", True),
        ("catalog load --region eu-west-1", False),
        ("--region catalog", False),
    ],
)
def test_an_option_that_a_command_has_for_itself_is_its_own(typed: str, *, own: bool) -> None:
    command = typer.main.get_command(app)
    assert ("--region" in own_options(command, typed.split(), OPTIONS)) is own
