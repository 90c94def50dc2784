"""`sweep`: runs one command, and ends it well.

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
    """Run `sweep` with these arguments, or those of the process, and return its exit code.

    Whatever went wrong has then been said in one line on stderr.
    """
    try:
        if argv is None:
            argv = sys.argv[1:]
            _unwind_when_terminated()
        return _run(list(argv))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    from orchestrator.cli.errors import show_error
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
        return show_error(error, debug="--debug" in arguments, as_json="--json" in arguments)


def _unwind_when_terminated() -> None:
    """Make SIGTERM and a closed terminal unwind the stack as Ctrl-C does, so that what was started is stopped."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _unwind)


def _unwind(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)
