"""Every error as one line: what is wrong, where, what to do; and the exit code it ends with."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.confirm import Declined
from orchestrator.cli.render import paint, say
from orchestrator.errors import SweepError

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloudError

# What typer's parser raises; the class itself lives in click, or in a private module of newer typers.
ParserError: type[Exception] = typer.BadParameter.__mro__[1]


class Interrupted(SweepError):
    """Ctrl-C where something goes on without us, or may have been half done."""

    exit_code = 130


@dataclass(frozen=True)
class Problem:
    text: str
    exit_code: int
    label: str = "error"


def show(error: Exception, *, debug: bool) -> int:
    """Say it on stderr; its exit code."""
    problem = _problem(error)
    if debug:
        traceback.print_exception(error)
    label = paint(f"{problem.label}:", "red", sys.stderr) + " " if problem.label else ""
    say(label + " ".join(problem.text.split()))
    return problem.exit_code


def _problem(error: Exception) -> Problem:
    if isinstance(error, Interrupted):
        return Problem(str(error), error.exit_code, "interrupted")
    if isinstance(error, Declined):
        return Problem(str(error), error.exit_code, "")
    if isinstance(error, SweepError):
        return Problem(str(error), error.exit_code)
    if isinstance(error, ParserError):
        return Problem(_usage(error), 2)
    if isinstance(error, _local_cloud_error()):
        return Problem(str(error), error.exit_code)
    if isinstance(error, UnicodeEncodeError):
        culprit = ascii(error.object[error.start : error.end])
        return Problem(f"{culprit} cannot be written in {error.encoding} (LC_ALL=C.UTF-8 is a locale that can)", 2)
    if isinstance(error, OSError):
        return Problem(": ".join(str(part) for part in (error.filename, error.strerror or error) if part), 1)
    name = type(error).__name__
    return Problem(f"this is a bug, please report it: {name}: {error} (run again with --debug to see where)", 1)


def _usage(error: Exception) -> str:
    """The parser's own words, and where to read more."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "sweep"
    return f"{message.rstrip('.')} (see `{command} --help`)"


def _local_cloud_error() -> type[LocalCloudError]:
    """Asked for only when something is wrong."""
    from orchestrator.localcloud import LocalCloudError

    return LocalCloudError
