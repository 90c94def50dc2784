"""Lets an instance find its own programs and names under the machine's paths. A script of its own.

    own_files.py BASE COMMAND ...

It runs in a mount namespace of its own, and becomes the command. Who calls /sbin/shutdown there must not reach this
machine's: each program of BASE/programs takes the place of all that bear its name. BASE/hosts is /etc/hosts, into which
an instance may write how others are called. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_BIND = 0x1000  # MS_BIND
_FOLDERS = ("/sbin", "/usr/sbin", "/bin", "/usr/bin")


def main(base: str, *command: str) -> None:
    """Replace the machine's files, and become the command."""
    replaced = {Path("/etc/hosts"): Path(base) / "hosts"}
    for ours in sorted((Path(base) / "programs").iterdir()):
        for folder in _FOLDERS:
            theirs = (Path(folder) / ours.name).resolve()
            if theirs.is_file():
                replaced.setdefault(theirs, ours)
    for theirs, ours in replaced.items():
        _bind(ours, theirs)
    os.execvp(command[0], command)


def _bind(source: Path, target: Path) -> None:
    """Let a file appear at another path, too."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(os.fsencode(source), os.fsencode(target), b"", _BIND, None):
        number = ctypes.get_errno()
        raise OSError(number, f"mount: {os.strerror(number)}", str(target))


if __name__ == "__main__":
    main(*sys.argv[1:])
