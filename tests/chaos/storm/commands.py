"""Commands of `sweep`, each in a process of its own, several at once, each perhaps killed on its way."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.chaos.storm.versions import become_old

if TYPE_CHECKING:
    from tests.chaos.storm.doom import Doom
    from tests.chaos.storm.stage import Stage

LONGEST_S = 900.0
"""Seconds after which a command is stuck: many, for it may be a slow machine that keeps it."""
BUGS = ("this is a bug", "Traceback (most recent call last)")


@dataclass(frozen=True)
class Command:
    """What somebody types, on which machine, and where the process dies, if it does."""

    machine: str
    words: tuple[str, ...]
    doom: Doom | None = None

    def __str__(self) -> str:
        doomed = f", killed at {self.doom.kind} {self.doom.at}" if self.doom else ""
        return f"{self.machine}: sweep {' '.join(self.words)}{doomed}"


@dataclass(frozen=True)
class Played:
    """What came of a command."""

    command: Command
    code: int
    """Its exit code; negative for the signal that killed it."""
    output: str
    stuck: bool = False

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL and not self.stuck

    @property
    def has_bug(self) -> bool:
        return any(words in self.output for words in BUGS)


class Commands:
    """Plays commands on a stage."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._number = 0

    def play(self, *commands: Command) -> list[Played]:
        """Play these side by side, and return what came of each."""
        started = [(command, *self._start(command)) for command in commands]
        return [self._finish(command, pid, output) for command, pid, output in started]

    def _start(self, command: Command) -> tuple[int, Path]:
        self._number += 1
        output = self.stage.folder / f"output-{self._number}"
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _become(command, output, self.stage)
        return pid, output

    def _finish(self, command: Command, pid: int, output: Path) -> Played:
        until = time.monotonic() + LONGEST_S
        while True:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                said = output.read_text(errors="replace")
                output.unlink()
                return Played(command, os.waitstatus_to_exitcode(status), said)
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return Played(command, -signal.SIGKILL, output.read_text(errors="replace"), stuck=True)
            time.sleep(0.02)


def _become(command: Command, output: Path, stage: Stage) -> None:
    """Be this command, and never return."""
    code = 70
    try:
        signal.alarm(0)
        handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for descriptor in (1, 2):
            os.dup2(handle, descriptor)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ["SWEEP_DATABASE"] = stage.database(command.machine)
        sys.argv = ["sweep", *command.words]
        if command.machine == "old" and stage.old:
            become_old(stage.old, command.words)
        if command.doom:
            command.doom.await_in_this_process(command.words[0], Path(os.devnull))
        from orchestrator.cli.app import main

        code = _code(main)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _code(main: object) -> int:
    try:
        result = main()  # type: ignore[operator]
    except SystemExit as leaving:
        result = leaving.code
    return result if isinstance(result, int) else int(result is not None)
