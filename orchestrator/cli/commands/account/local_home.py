"""The option that says which local cloud is meant."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def _home() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "sweep" / "local"


Home = Annotated[
    Path,
    typer.Option(
        metavar="FOLDER",
        default_factory=_home,
        show_default="~/.local/state/sweep/local",
        help="Where it keeps its files; one cloud a folder.",
    ),
]
