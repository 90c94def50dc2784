"""Takes the place of ssh for a training's own `mpirun`: all its hosts are this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SCRIPT = """#!/bin/sh
# Open MPI calls it as it calls ssh: HOST COMMAND. Two hosts on one machine must not share files in memory,
# and a host's name is its own: ssh would not bring the caller's.
host="$1"
shift
export SM_CURRENT_HOST="$host" TMPDIR="{folder}/$host" OMPI_MCA_btl_vader_backing_directory="{folder}/$host"
mkdir -p "$TMPDIR"
exec {join} /bin/sh -c "$*"
"""


def write_agent(folder: Path, join: str) -> Path:
    """Write the program into a folder, unless it is there already; return its path.

    `join` is what a shell puts before a command to run it on the host whose name is `$host`.
    """
    agent = folder / "reach"  # mpirun gives options of ssh to a program of that name
    if not agent.exists():
        agent.write_text(_SCRIPT.format(folder=folder, join=join))
        agent.chmod(0o755)
    return agent
