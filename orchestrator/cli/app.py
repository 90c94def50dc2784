"""`sweep`: run one command, and end it well.

Only the standard library is imported here, so that Ctrl-C is met from the first moment on.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
READER_GONE = 141  # as a shell counts SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of `sweep`; whatever went wrong has been said in one line on stderr."""
    try:
        if argv is None:
            _unwind_when_ended()
        return _run(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    from orchestrator.cli import problems
    from orchestrator.cli.program import run
    from orchestrator.cli.render import ReaderGone

    if not sys.stderr:  # closed, as by `2>&-`: nobody wants to know
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if not sys.stdout:  # the next file opened would be taken for it
        sys.stderr.write("error: standard output is closed: there is nowhere to print to\n")
        return 1
    try:
        return run(arguments)
    except ReaderGone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:  # noqa: BLE001 - the one place where every error becomes a line
        return problems.show(error, debug="--debug" in arguments)


def _unwind_when_ended() -> None:
    """SIGTERM and a closed terminal unwind the stack as Ctrl-C does: what we started is stopped on the way out."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _unwind)


def _unwind(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)
