"""Measures what a training uses of its machine: processors, memory and GPUs, in percent of what there is.

In a pod it is what the pod uses, of what it may use, where the kernel tells (cgroup v2); else all of the machine. It
travels into the training: standard library only.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CPU, MEMORY, GPU, GPU_MEMORY = "cpu_percent", "memory_percent", "gpu_percent", "gpu_memory_percent"
"""What is measured: of processors and GPUs the mean over the training's time, of memory the most at any time."""
_ROOT = Path("/")
_EVERY_S = 10.0
_GPUS = ("nvidia-smi", "--query-gpu=utilization.gpu,memory.used,memory.total", "--format=csv,noheader,nounits")
_GPUS_WITHIN_S = 10.0
_IDLE = (3, 4)
"""The places of idle and of waiting for disks among the times of /proc/stat."""


class Usage:
    """Looks every few seconds, from `begin` to `end`."""

    def __init__(self, environ: Mapping[str, str], every_s: float = _EVERY_S, root: Path = _ROOT) -> None:
        self._environ = dict(environ)
        self._every_s = every_s
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_until_over, name="usage", daemon=True)
        self._began: tuple[float, float] | None = None
        """When it began, and the seconds that processors had worked by then."""
        self._most_memory = 0.0
        self._gpus: list[tuple[float, float]] = []
        """The GPUs at each look: how busy they were, and how full their memory."""

    def begin(self) -> None:
        """Measure from now on, unless it does already."""
        if self._began is None:
            self._began = time.monotonic(), self._busy_s()
            self._thread.start()

    def end(self) -> dict[str, float]:
        """Stop, and return what was measured; what the machine does not tell is left out."""
        if self._began is None:
            return {}
        self._over.set()
        self._thread.join(_GPUS_WITHIN_S + self._every_s)
        began_at, busy_s = self._began
        passed = (time.monotonic() - began_at) * self._processors()
        found = {CPU: 100 * (self._busy_s() - busy_s) / passed if passed else 0.0, MEMORY: self._most_memory}
        if self._gpus:
            found[GPU] = sum(busy for busy, _ in self._gpus) / len(self._gpus)
            found[GPU_MEMORY] = max(full for _, full in self._gpus)
        return {name: round(min(max(value, 0.0), 100.0), 1) for name, value in found.items()}

    def _look_until_over(self) -> None:
        has_gpus = True
        while True:
            self._most_memory = max(self._most_memory, self._memory())
            gpus = self._look_at_gpus() if has_gpus else []
            has_gpus = bool(gpus)
            if gpus:
                busy, full = (sum(values) / len(values) for values in zip(*gpus))  # noqa: B905 (Python 3.8)
                self._gpus.append((busy, full))
            if self._over.wait(self._every_s):
                return

    def _busy_s(self) -> float:
        """Return the seconds for which processors have worked so far, added up."""
        own = dict(line.split()[:2] for line in self._read("sys/fs/cgroup/cpu.stat"))
        if "usage_usec" in own:
            return int(own["usage_usec"]) / 1e6
        for line in self._read("proc/stat"):
            name, *times = line.split()
            if name == "cpu":
                ticks = sum(int(value) for place, value in enumerate(times[:8]) if place not in _IDLE)
                return ticks / os.sysconf("SC_CLK_TCK")
        return 0.0

    def _processors(self) -> float:
        """Return how many processors may be used."""
        quota, *period = ([*self._read("sys/fs/cgroup/cpu.max"), "max"][0]).split()
        return int(quota) / int(period[0]) if quota.isdigit() and period else os.cpu_count() or 1

    def _memory(self) -> float:
        """Return how much of the memory is in use now. What may be given up at any time, such as caches, is not."""
        amounts = {
            line.partition(":")[0]: line.split()[1] for line in self._read("proc/meminfo") if len(line.split()) > 1
        }
        total = 1024 * int(amounts.get("MemTotal", 0))
        used = total - 1024 * int(amounts.get("MemAvailable", 0))
        own = [*self._read("sys/fs/cgroup/memory.current"), ""][0]
        if own.isdigit():
            caches = dict(line.split()[:2] for line in self._read("sys/fs/cgroup/memory.stat"))
            limit = [*self._read("sys/fs/cgroup/memory.max"), ""][0]
            used = int(own) - int(caches.get("inactive_file", 0))
            total = int(limit) if limit.isdigit() else total
        return 100 * used / total if total else 0.0

    def _look_at_gpus(self) -> list[tuple[float, float]]:
        """Return how busy each GPU is and how full its memory; nothing where NVIDIA's driver tells of none."""
        try:
            asked = subprocess.run(
                _GPUS,
                env=self._environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_GPUS_WITHIN_S,
                check=True,
            )
            rows = [line.split(",") for line in asked.stdout.decode().splitlines() if line.strip()]
            return [(float(busy), 100 * float(used) / float(total)) for busy, used, total in rows]
        except (OSError, subprocess.SubprocessError, ValueError, ZeroDivisionError):
            return []  # none, or one that does not tell, such as a part of a shared one

    def _read(self, path: str) -> list[str]:
        try:
            return (self._root / path).read_text().splitlines()
        except OSError:
            return []  # this kernel has it elsewhere, or not at all
