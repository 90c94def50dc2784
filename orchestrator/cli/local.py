"""`sweep local`: AWS on this machine, for trying and for tests."""

from __future__ import annotations

import typer

app = typer.Typer(help="A local AWS on this machine.", no_args_is_help=True)
