"""Gives a process an /opt/ml of its own, then becomes a command there. Standard library only; a script of its own.

    own_opt_ml.py BASE FOLDER COMMAND ...

It runs in a mount namespace of its own, in which the folder BASE is at /opt/ml, too. The command runs in FOLDER. Beside
BASE, a file ending in `.pid` tells who it is: `no_ssh.py` starts there what belongs to this host.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

_BIND = 0x1000 | 0x4000  # MS_BIND, MS_REC
_PR_SET_PDEATHSIG = 1
_ML = "ml"


def become_host(base: Path) -> None:
    """Replace /opt by a folder that shows the same entries, and BASE as `ml`, to this process and its children."""
    ours = base.with_name(f"{base.name}.opt")
    ours.mkdir()
    _mount("tmpfs", ours, "tmpfs")
    for entry in list(os.scandir("/opt")):
        if entry.name != _ML:
            _show(entry, ours / entry.name)
    (ours / _ML).mkdir()
    _mount(str(base), ours / _ML, flags=_BIND)
    _mount(str(ours), Path("/opt"), flags=_BIND)


def _show(entry: os.DirEntry[str], target: Path) -> None:
    """Let an entry of a folder appear at another path, too."""
    if entry.is_symlink():
        target.symlink_to(Path(entry.path).readlink())
        return
    if entry.is_dir():
        target.mkdir()
    else:
        target.touch()
    _mount(entry.path, target, flags=_BIND)


def _mount(source: str, target: Path, kind: str = "", flags: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(os.fsencode(source), os.fsencode(target), kind.encode(), flags, None):
        number = ctypes.get_errno()
        raise OSError(number, f"mount: {os.strerror(number)}", str(target))


def main(base: str, folder: str, *command: str) -> None:
    """Lay out the host, and become its command. A parent's end is ours, as whoever started us has asked."""
    become_host(Path(base))
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a user namespace has taken it back
    Path(f"{base}.pid").write_text(str(os.getpid()))
    os.chdir(folder)
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        sys.stderr.write(f'exec: "{command[0]}": executable file not found in $PATH\n')
    except OSError as error:
        sys.stderr.write(f'exec: "{command[0]}": {error.strerror}\n')
    sys.exit(127)


if __name__ == "__main__":
    main(*sys.argv[1:])
