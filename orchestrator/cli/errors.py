"""Shows every error as one line: what is wrong, where, what to do. Each has an exit code."""

from __future__ import annotations

import json
import re
import sys
import traceback
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.render import paint, printable, say
from orchestrator.errors import SweepError, said_plainly

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloudError

ParserError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer's parser raises. The class itself lives in click, or in a private module of newer typers."""


_LONG_WORD = re.compile(r"(\S{120})\S{57,}(\S{80})")


class Declined(SweepError):
    """The person was asked, and said no."""


class Interrupted(SweepError):
    """Ctrl-C came where something goes on without us, or may be half done."""

    exit_code = 130


@dataclass(frozen=True)
class ErrorParts:
    """An error as `--json` shows it, under the key `error`."""

    message: str
    where: str
    hint: str
    exit_code: int


@dataclass(frozen=True)
class ErrorLine:
    """An error as it is shown, and the code that the program ends with."""

    text: str
    exit_code: int
    label: str = "error"


def show_error(error: Exception, *, debug: bool, as_json: bool = False) -> int:
    """Show an error on stderr, with its traceback if `debug`, and return its exit code.

    With `as_json` it is one line of JSON, with the parts of the error apart.
    """
    shown = _error_line(error)
    if debug:
        traceback.print_exception(error)
    if as_json:
        parts = error if isinstance(error, SweepError) else SweepError(shown.text)
        message, where, hint = (shortened(text) for text in (parts.message, parts.where, parts.hint))
        say(json.dumps({"error": asdict(ErrorParts(message, where, hint, shown.exit_code))}))
        return shown.exit_code
    text = shortened(printable(" ".join(shown.text.split())))
    if shown.label:
        text = f"{paint(f'{shown.label}:', 'red', sys.stderr)} {text}"
    say(text)
    return shown.exit_code


def shortened(text: str) -> str:
    """Return a text of at most 800 characters: what is wrong stands at its beginning, what to do at its end.

    A word of more than 256 characters, such as a path, has its beginning and its end only.
    """
    text = _LONG_WORD.sub(r"\1…\2", text)
    return text if len(text) <= 800 else f"{text[:500]} … {text[-297:]}"


def _error_line(error: Exception) -> ErrorLine:
    if isinstance(error, Interrupted):
        return ErrorLine(str(error), error.exit_code, "interrupted")
    if isinstance(error, Declined):
        return ErrorLine(str(error), error.exit_code, "")
    if isinstance(error, SweepError):
        return ErrorLine(str(error), error.exit_code)
    if isinstance(error, ParserError):
        return ErrorLine(_usage(error), 2)
    if isinstance(error, _local_cloud_error()):
        return ErrorLine(str(error), error.exit_code)
    if isinstance(error, UnicodeEncodeError):
        culprit = ascii(error.object[error.start : error.end])
        return ErrorLine(f"{culprit} cannot be written in {error.encoding} (LC_ALL=C.UTF-8 is a locale that can)", 2)
    if isinstance(error, OSError):
        reason = str(error.strerror or error)
        return ErrorLine(f"{error.filename}: {reason}" if error.filename else reason, 1)
    name = type(error).__name__
    return ErrorLine(f"this is a bug, please report it: {name}: {error} (run again with --debug to see where)", 1)


def _usage(error: Exception) -> str:
    """Return the parser's own words, and where to read more."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "sweep"
    return f"{said_plainly(message).rstrip('.')} (see `{command} --help`)"


def _local_cloud_error() -> type[LocalCloudError]:
    """Return the class of the local cloud's errors, which is imported only when something is wrong."""
    from orchestrator.localcloud import LocalCloudError

    return LocalCloudError
