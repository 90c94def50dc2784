"""Takes the place of ssh for a training's own `mpirun`: all its hosts are this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SCRIPT = """#!/bin/sh
# Open MPI calls it as it calls ssh: HOST COMMAND. Two hosts on one machine must not share files in memory.
export TMPDIR="{folder}/$1" OMPI_MCA_btl_vader_backing_directory="{folder}/$1"
mkdir -p "$TMPDIR"
shift
exec /bin/sh -c "$*"
"""


def write_agent(folder: Path) -> Path:
    """Write the program into a folder, unless it is there already; return its path."""
    agent = folder / "ssh"
    if not agent.exists():
        agent.write_text(_SCRIPT.format(folder=folder))
        agent.chmod(0o755)
    return agent
