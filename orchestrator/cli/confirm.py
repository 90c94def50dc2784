"""Ask before money is spent or work is stopped."""

from __future__ import annotations

import sys

from orchestrator.cli.render import is_terminal, say
from orchestrator.errors import SweepError, UsageError


class Declined(SweepError):
    """The person said no."""


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if the person says so: on a terminal asked, elsewhere told by --yes."""
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
