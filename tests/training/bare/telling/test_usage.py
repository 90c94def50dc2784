"""What a training uses of its machine: read from files that Linux has, and from NVIDIA's driver."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.training.bare.telling import usage
from orchestrator.training.bare.telling.outcome import MachineOutcome, usage_of_all
from orchestrator.training.bare.telling.usage import Usage

if TYPE_CHECKING:
    from pathlib import Path

MEMINFO = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n"


class Machine:
    """A machine with two processors, whose files are in a folder and whose time stands still between two looks."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.now = 100.0
        self.write("proc/meminfo", MEMINFO)
        monkeypatch.setattr(usage.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(usage.os, "cpu_count", lambda: 2)
        self.path = root / "bin"
        self.path.mkdir()

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def has_gpus(self, said: str, code: int = 0) -> None:
        driver = self.path / "nvidia-smi"
        driver.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {code}\n")
        driver.chmod(0o755)

    def worked(self, seconds: float) -> None:
        ticks = int(seconds * os.sysconf("SC_CLK_TCK"))
        self.write("proc/stat", f"cpu  {ticks} 0 0 7777 99 0 0 0 0 0\ncpu0 1 2 3 4\n")

    def measured(self) -> dict[str, float]:
        """Return what was measured in ten seconds, in six of which one processor worked."""
        self.worked(50)
        path = f"{self.path}:{os.environ['PATH']}"
        used = Usage({"PATH": path}, every_s=0.01, root=self.root)
        used.begin()
        self.now += 10
        self.worked(56)
        return used.end()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_processors_and_memory_are_measured_in_percent_of_what_there_is(machine: Machine) -> None:
    assert machine.measured() == {"cpu_percent": 30.0, "memory_percent": 60.0}


def test_gpus_are_measured_as_one(machine: Machine) -> None:
    machine.has_gpus("90, 10000, 40000\n70, 30000, 40000")
    found = machine.measured()
    assert (found["gpu_percent"], found["gpu_memory_percent"]) == (80.0, 50.0)


@pytest.mark.parametrize(("said", "code"), [("[N/A], [N/A], [N/A]", 0), ("", 0), ("No devices were found", 9)])
def test_a_driver_that_tells_nothing_leaves_gpus_out(machine: Machine, said: str, code: int) -> None:
    machine.has_gpus(said, code)
    assert set(machine.measured()) == {"cpu_percent", "memory_percent"}


def test_a_pod_is_measured_by_what_it_may_use_itself(machine: Machine) -> None:
    machine.write("sys/fs/cgroup/cpu.max", "50000 100000\n")
    machine.write("sys/fs/cgroup/memory.current", "900")
    machine.write("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 400\n")
    machine.write("sys/fs/cgroup/memory.max", "2000")
    machine.write("sys/fs/cgroup/cpu.stat", "usage_usec 1000000\nuser_usec 7\n")
    used = Usage({"PATH": str(machine.path)}, every_s=0.01, root=machine.root)
    used.begin()
    machine.now += 10
    machine.write("sys/fs/cgroup/cpu.stat", "usage_usec 5000000\nuser_usec 7\n")
    assert used.end() == {"cpu_percent": 80.0, "memory_percent": 25.0}


def test_what_never_began_used_nothing(machine: Machine) -> None:
    assert Usage({}, root=machine.root).end() == {}


def test_machines_without_such_files_are_no_error(tmp_path: Path) -> None:
    used = Usage({"PATH": ""}, every_s=0.01, root=tmp_path)
    used.begin()
    assert used.end() == {"cpu_percent": 0.0, "memory_percent": 0.0}


def test_several_machines_are_told_as_one() -> None:
    used = [{"cpu_percent": 10.0, "memory_percent": 20.0}, {"cpu_percent": 30.0, "memory_percent": 90.0}, {}]
    outcomes = [MachineOutcome(index, "done", used=one) for index, one in enumerate(used)]
    assert usage_of_all(outcomes) == {"cpu_percent": 20.0, "memory_percent": 90.0}
