"""Is PID 1 of a training's container: pid1.py COMMAND ... Standard library only; run as a script of its own.

It does what AWS's toolkit leaves undone: it reaps what nobody waits for, and passes SIGTERM on to the training, which
the toolkit's `train` does not (github.com/aws/sagemaker-training-toolkit/issues/125). SIGUSR1 has it kill the training,
as a machine does that is out of memory. Images in `containers/` begin with it, and so do the local cloud's hosts.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path


def main(command: list[str]) -> int:
    """Run a command, and return its exit code, as a container runtime reports it."""
    signals = {signal.SIGTERM, signal.SIGUSR1}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # until there is somebody to pass them on to
    process = subprocess.Popen(command, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, signals))
    signal.signal(signal.SIGTERM, lambda *_: pass_on(process.pid, signal.SIGTERM))
    signal.signal(signal.SIGUSR1, lambda *_: pass_on(process.pid, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    while True:
        pid, status = os.wait()
        if pid == process.pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def pass_on(command: int, number: int) -> None:
    """Send a signal to what the command has started, or to the command itself while it has started nothing."""
    for pid, name in children(command) or [(command, "")]:
        if name != "sshd":  # the way to the other hosts, which is still needed
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def children(parent: int) -> list[tuple[int, str]]:
    """Return the pids and names of a process's children."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just gone
            number, _, rest = entry.read_text().partition(" (")
            name, _, facts = rest.rpartition(") ")
            if int(facts.split()[1]) == parent:
                found.append((int(number), name))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
