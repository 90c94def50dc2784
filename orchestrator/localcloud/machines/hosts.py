"""Starts all hosts of one training, and the network between them. Standard library only; run as a script of its own.

    hosts.py FILE

FILE is what `machine.contained` writes. When the hosts have a network of their own, the network namespace of this
process is their switch. Nothing here has a name outside: when this process ends, however it ends, the hosts end, and
their mounts and networks go with them.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PR_SET_PDEATHSIG = 1
_PASSED_ON = (signal.SIGTERM, signal.SIGUSR1)
_LAYOUT = str(Path(__file__).with_name("layout.py"))


class Hosts:
    """The hosts of one training, as a file describes them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.described: dict[str, Any] = json.loads(Path(file).read_text())
        self.running: list[subprocess.Popen[bytes]] = []
        self.libc = ctypes.CDLL(None)

    def run(self) -> int:
        """Start all hosts, and return the exit code of the first that fails, or 0 when all have ended well."""
        for number in _PASSED_ON:
            signal.signal(number, lambda number, _: self.pass_on(number))
        for host in self.described["hosts"]:
            self.start(host)
        if self.described["network"]:
            self.connect()
        failures = (code for code in self.endings() if code != 0)
        return next(failures, 0)  # one host's failure is the end of all

    def start(self, host: dict[str, Any]) -> None:
        """Start one host, in namespaces of its own."""
        lay_out = [sys.executable, "-I", "-S", _LAYOUT, self.file, host["name"]]
        command = [*self.described["unshare"], *host["within"], *lay_out]
        marks = {name: value for name, value in os.environ.items() if name.startswith("LOCALCLOUD_")}
        with Path(host["log"]).open("ab") as log:
            process = subprocess.Popen(
                command,
                env={**host["environment"], **marks},  # by them a later `down` finds what a crash left
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=self.bind,
            )
        self.running.append(process)

    def bind(self) -> None:
        """Have a host killed when this process ends. Its signals wait until its PID 1 can take them."""
        self.libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)

    def connect(self) -> None:
        """Lay a cable from each host's eth0 to the switch."""
        orders = ["link add switch type bridge", "link set switch up"]
        for number, process in enumerate(self.running, 1):
            while _only_child(process.pid) is None and process.poll() is None:  # until it has its namespaces
                time.sleep(0.005)
            orders += [f"link add host{number} type veth peer name eth0 netns {process.pid}"]
            orders += [f"link set host{number} master switch up"]
        subprocess.run(["ip", "-batch", "-"], input="\n".join(orders), text=True, check=True)

    def endings(self) -> Iterator[int]:
        """Yield the exit codes of hosts, as they end."""
        while self.running:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            for process in [each for each in self.running if each.poll() is not None]:
                self.running.remove(process)
                yield process.returncode if process.returncode >= 0 else 128 - process.returncode

    def pass_on(self, number: int) -> None:
        """Send a signal to each host's PID 1. Kill a host that has none yet."""
        for process in self.running:
            pid1 = _only_child(process.pid)
            with contextlib.suppress(ProcessLookupError):
                if pid1 is None:
                    os.kill(process.pid, signal.SIGKILL)
                else:
                    os.kill(pid1, number)


def _only_child(pid: int) -> int | None:
    """Return the one child of an `unshare`, which is its container's PID 1; None while it prepares."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return None
    return int(children[0]) if children else None


if __name__ == "__main__":
    sys.exit(Hosts(sys.argv[1]).run())
