"""Write docs/cli.md from the commands themselves: `python docs/write_cli.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from orchestrator.cli.program import app

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("cli.md")
NOT_OURS = ("--install-completion", "--show-completion", "--help")
INTRODUCTION = """\
# The commands

<!-- Written by docs/write_cli.py from the commands' own help; a test sees that it is current. -->

Data goes to stdout, everything else to stderr. Every command takes `--json`. Tables have colour on a terminal only,
and `NO_COLOR` turns it off.

| exit code | |
| --- | --- |
| 0 | it worked; of `watch`, `submit --watch` and `demo`: the run is done |
| 1 | the run failed, or AWS or this machine refused |
| 2 | a bad command line, file or name |
| 4 | credentials or permission |
| 5 | a part of the run failed, or it is paused, or a stored object is damaged: it is named |
| 6 | refused by budget or quota |
| 130 | interrupted |
"""


def page() -> str:
    group = typer.main.get_command(app)
    parts = [INTRODUCTION, "## Before or after any command\n", _options(group)]
    for path, command in _commands(group, ("sweep",)):
        parts += [f"## {' '.join(path)}\n", _usage(path, command), _text(command.help), _options(command)]
    return "\n".join(part for part in parts if part)


def _commands(group: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in group.list_commands(None):
        command = group.commands[name]
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _usage(path: tuple[str, ...], command: Any) -> str:
    arguments = [parameter.metavar for parameter in command.params if parameter.param_type_name == "argument"]
    return f"    {' '.join([*path, *arguments])}\n"


def _text(text: str) -> str:
    """The paragraphs of a docstring, its example as code."""
    body, _, example = text.partition("Example: ")
    return f"{body.strip()}\n" + (f"\n```console\n$ {example.strip()}\n```\n" if example else "")


def _options(command: Any) -> str:
    rows = [_row(parameter) for parameter in command.params if not set(parameter.opts) & set(NOT_OURS)]
    return "\n".join(["| option | |", "| --- | --- |", *rows]) + "\n"


def _row(parameter: Any) -> str:
    names = [parameter.metavar] if parameter.param_type_name == "argument" else sorted(parameter.opts, key=len)
    valued = parameter.param_type_name == "option" and not parameter.is_flag
    value = f" {parameter.metavar or parameter.name.upper()}" if valued else ""
    shown = f"{', '.join(names)}{value}".replace("|", "\\|")
    return f"| `{shown}` | {parameter.help} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
