"""Is the first process of an EC2 instance: first_process.py UNITS COMMAND ... Standard library only; run as a script.

It starts the user data, adopts whatever that leaves behind, and stays when it has ended, as a machine does. The cloud
tells it what is to happen, by signals:

SIGTERM   shut down: everything is told to end, and this process ends when nothing is left
SIGUSR1   kill everything but this process, as a machine does that is out of memory
SIGUSR2   start the commands that lie in the folder UNITS, each a file of JSON, and remove the files

All of them print into a pipe, as under cloud-init: a script that opens /dev/stderr anew must not begin the log anew.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_SIGNALS = {signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD}


def main(units: str, *command: str) -> int:
    """Start a command, obey the cloud, and return when it is time to be gone."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # or the kernel would discard it
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    console, copying = open_console()
    start(list(command), console)
    is_ending = False
    while True:
        told = signal.sigwait(_SIGNALS)
        if told == signal.SIGTERM:
            is_ending = True
            tell_all(signal.SIGTERM)
        elif told == signal.SIGUSR1:
            tell_all(signal.SIGKILL)
        elif told == signal.SIGUSR2:
            start_units(Path(units), console)
        if not reap() and is_ending:
            os.close(console)
            copying.join()
            return 0


def open_console() -> tuple[int, threading.Thread]:
    """Return a pipe to print into, and the thread that copies what comes to our own output."""
    source, console = os.pipe()

    def copy() -> None:
        while data := os.read(source, 1 << 16):
            os.write(1, data)

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return console, thread


def start(command: list[str], console: int) -> None:
    """Start a command. What cannot be started is told, and harms nothing else."""
    try:
        subprocess.Popen(
            command,
            stdout=console,
            stderr=console,
            start_new_session=True,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS),
        )
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")


def start_units(folder: Path, console: int) -> None:
    """Start what lies in a folder, in the order of the files' names."""
    for file in sorted(folder.glob("*.json")):
        unit = json.loads(file.read_text())
        file.unlink()
        start(unit["command"], console)


def reap() -> bool:
    """Take in what has ended. Return whether any process is left."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            return True


def tell_all(number: int) -> None:
    """Send a signal, once, to all that descends from this process; also to what was started while we looked."""
    told: set[int] = set()
    while untold := set(descendants(os.getpid())) - told:
        for pid in untold:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        told |= untold


def descendants(ancestor: int) -> list[int]:
    """Return the pids of all that descends from a process."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just gone
            number, _, rest = entry.read_text().partition(" (")
            parents[int(number)] = int(rest.rpartition(") ")[2].split()[1])
    found = [ancestor]
    for known in found:
        found += [pid for pid, parent in parents.items() if parent == known]
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
