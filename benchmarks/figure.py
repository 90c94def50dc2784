"""One measured figure, its budget and its rival; and how a process is measured."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Figure:
    what: str
    value: float
    unit: str
    budget: float | None = None
    at_least: bool = False
    """The budget is a floor, not a ceiling."""
    rival: str = ""
    """What else was measured in the same run, in words."""

    @property
    def kept(self) -> bool:
        if self.budget is None:
            return True
        return self.value >= self.budget if self.at_least else self.value <= self.budget

    def __str__(self) -> str:
        bound = "" if self.budget is None else f"{'≥' if self.at_least else '<'} {number(self.budget)} {self.unit}"
        mark = "" if self.budget is None else "ok" if self.kept else "MISSED"
        return f"{self.what:<52}{number(self.value):>10} {self.unit:<8}{bound:<18}{mark:<8}{self.rival}".rstrip()


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Usage:
    """What a process took, its children included."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    output: str


def run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Usage:
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        output = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Usage(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak / 1e6, output)


def best(command: Sequence[str | Path], times: int = 5) -> Usage:
    """The quickest of some: what the machine can do when nothing else disturbs it."""
    return min((run(command) for _ in range(times)), key=lambda usage: usage.wall_s)
