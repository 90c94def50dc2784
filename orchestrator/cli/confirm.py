"""Asks before money is spent or work is stopped."""

from __future__ import annotations

import sys

from orchestrator.cli.errors import Declined
from orchestrator.cli.render import is_terminal, say
from orchestrator.errors import UsageError


def confirm(question: str, *, yes: bool) -> None:
    """Return if the person agrees: by an answer on a terminal, or by --yes.

    Raise Declined if they do not, UsageError if there is neither.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and is_terminal(sys.stderr)):
        raise UsageError("this asks first, and there is no terminal to ask on", hint="--yes goes ahead")
    try:
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        say("")  # the question's line is over
        raise
    if answer.strip().lower() not in ("y", "yes"):
        raise Declined("nothing was done")
