"""Every error as one line: what is wrong, where, what to do; and the exit code it ends with."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass

import typer

from orchestrator.cli.render import paint, say
from orchestrator.errors import SweepError
from orchestrator.localcloud.errors import LocalCloudError

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
    say(f"{paint(problem.label + ':', 'red', sys.stderr)} {' '.join(problem.text.split())}")
    return problem.exit_code


def _problem(error: Exception) -> Problem:
    if isinstance(error, Interrupted):
        return Problem(str(error), error.exit_code, "interrupted")
    if isinstance(error, SweepError):
        return Problem(str(error), error.exit_code)
    if isinstance(error, ParserError):
        return Problem(_usage(error), 2)
    if isinstance(error, typer.Abort):
        return Problem("no answer, so nothing was done", 1)
    if isinstance(error, LocalCloudError):
        return Problem(str(error), error.exit_code)
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
