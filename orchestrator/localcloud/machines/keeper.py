"""Owns every process of the local cloud. Standard library only; run as a script of its own.

The server is large and has many threads; forking from it is slow and unsafe. So it starts this small, single-threaded
keeper and tells it, one JSON line at a time, what to start and whom to signal:

    in   {"start": ID, "argv": [...], "environment": {...}, "folder": PATH, "log": PATH}
         {"signal": ID, "number": 15}
    out  {"started": ID, "pid": N}      {"ended": ID, "code": N, "signal": N}      {"refused": ID, "reason": TEXT}

Each process leads a session of its own, as PID 1 of a container would: when it ends, all it started ends with it. When
the server goes, however it goes, our standard input closes, and everything goes. When we are killed, the kernel kills
our children (PR_SET_PDEATHSIG), and the next `up` or `down` finds the rest by the marker in their environment.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

ID_VARIABLE = "LOCALCLOUD_PROCESS"
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Keeper:
    """Starts processes, signals them, and reports their ends, as the server orders."""

    def __init__(self) -> None:
        self.running: dict[int, str] = {}  # pid of a session's leader → the server's name for it
        self.pids: dict[str, int] = {}
        self.libc = _libc()
        if self.libc:
            self.libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def serve(self) -> None:
        """Obey the server until it closes our standard input."""
        wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pending = b""
        while True:
            ready, _, _ = select.select([0, wake], [], [])
            if wake in ready:
                os.read(wake, 4096)
                self.reap()
            if 0 in ready:
                data = os.read(0, 1 << 16)
                if not data:
                    return
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    self.obey(json.loads(line))

    def obey(self, order: dict[str, Any]) -> None:
        """Start a process, or signal one if it still runs."""
        if "start" in order:
            self.start(order["start"], order)
        elif pid := self.pids.get(order["signal"]):
            os.kill(pid, order["number"])

    def start(self, name: str, order: dict[str, Any]) -> None:
        environment = {**order["environment"], ID_VARIABLE: name}
        program = shutil.which(order["argv"][0], path=environment.get("PATH", os.defpath))
        if program is None:
            self.report({"refused": name, "reason": f'exec: "{order["argv"][0]}": executable file not found in $PATH'})
            return
        pid = os.fork()
        if pid == 0:
            self.become(program, order, environment)
        self.running[pid], self.pids[name] = name, pid
        self.report({"started": name, "pid": pid})

    def become(self, program: str, order: dict[str, Any], environment: dict[str, str]) -> None:
        """Turn the forked child into the program. Never returns."""
        try:
            parent = os.getppid()
            os.setsid()
            if self.libc:
                self.libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(127)
            for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.chdir(order["folder"])
            os.execve(program, order["argv"], environment)
        finally:
            os._exit(127)

    def reap(self) -> None:
        """Report the processes that have ended, and kill what they left behind."""
        ended = False
        while (dead := _next_dead()) is not None:
            ended = True
            pid, status = dead
            name = self.running.pop(pid, None)
            if name is None:
                continue
            del self.pids[name]
            _kill_group(pid)
            killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            self.report({"ended": name, "code": _container_code(status), "signal": killed_by})
        if ended:
            self.kill_orphans()

    def kill_orphans(self) -> None:
        """Kill the adopted processes whose starter has ended: what a process leaves behind, we adopt."""
        for pid in _children():
            if pid not in self.running and _process_of(pid) not in self.pids:
                _kill(pid)

    def end(self) -> None:
        """Kill all processes, and what they leave, until we have no child."""
        for pid in list(self.running):
            _kill_group(pid)
        while True:
            for pid in _children():
                _kill(pid)
            try:
                os.wait()
            except ChildProcessError:
                return

    def report(self, event: dict[str, Any]) -> None:
        """Write one line to the server."""
        data = json.dumps(event).encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]


def _libc() -> Any:
    if sys.platform != "linux":
        return None
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _next_dead() -> tuple[int, int] | None:
    """Return the pid and the wait status of a child that has ended; None when none has."""
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def _container_code(status: int) -> int:
    """Return the exit code that a container runtime reports: 137 for a process that was killed by signal 9."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _children() -> list[int]:
    """Return the pids of our children, adopted ones too (on Linux; elsewhere nothing is adopted)."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(pid) for pid in listing.read_text().split()] if listing.exists() else []


def _process_of(pid: int) -> str | None:
    """Return the server's name of the process that started this one, from the environment that it inherited."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has just gone
        return None
    prefix = f"{ID_VARIABLE}=".encode()
    return next((entry[len(prefix) :].decode() for entry in variables if entry.startswith(prefix)), None)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nobody left; macOS says so with EPERM
        return


def main() -> None:
    keeper = Keeper()
    try:
        keeper.serve()
    finally:
        keeper.end()


if __name__ == "__main__":
    main()
