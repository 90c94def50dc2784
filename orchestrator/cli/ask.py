"""Ask before money is spent or work is stopped."""

from __future__ import annotations

import sys

import typer

from orchestrator.cli.render import is_terminal
from orchestrator.errors import UsageError


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if the person says so: on a terminal asked, elsewhere told by --yes."""
    if yes:
        return
    if not (sys.stdin.isatty() and is_terminal(sys.stderr)):
        raise UsageError("this asks first, and there is no terminal to ask on", hint="say --yes to go ahead")
    if not typer.confirm(question, err=True):
        raise typer.Abort
