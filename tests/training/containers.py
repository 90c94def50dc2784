"""Folders as SageMaker's container contract has them below /opt/ml, with a training for the starter in them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]


class Container:
    """One machine of a training: its folders, and a way to run the starter there."""

    def __init__(self, base: Path, *, hosts: Sequence[str] = ("algo-1",), host: str = "algo-1") -> None:
        self.base = base
        for folder in ("input/config", "input/data/training", "code", "model", "output/data"):
            (base / folder).mkdir(parents=True)
        resources = {"current_host": host, "hosts": list(hosts), "network_interface_name": "lo"}
        self.write("input/config/resourceconfig.json", json.dumps(resources))
        self.write("input/config/inputdataconfig.json", json.dumps({"training": {}, "code": {}}))
        self.order(["train.py", "{arguments}"])

    def write(self, name: str, text: str) -> None:
        (self.base / name).write_text(text)

    def order(self, command: list[str], parameters: Mapping[str, Any] | None = None, **order: Any) -> None:
        """Write the hyperparameters: the training's own, and the starter's order."""
        values = {**(parameters or {}), "sweep_start": {"command": command, **order}}
        encoded = {name: json.dumps(value) for name, value in values.items()}
        self.write("input/config/hyperparameters.json", json.dumps(encoded))

    def begin(self, script: str | None = None, **variables: str) -> subprocess.Popen[str]:
        """Run the starter, as its container does; `script` is train.py."""
        if script is not None:
            self.write("code/train.py", script)
        run = f"import sys; sys.path.append({str(ROOT)!r}); from orchestrator.training.start import main"
        return subprocess.Popen(
            [sys.executable, "-I", "-c", f"{run}; sys.exit(main({str(self.base)!r}))"],
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "TRAINING_JOB_NAME": self.base.parent.name,
                "OMPI_MCA_mpi_yield_when_idle": "1",
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, script: str | None = None, **variables: str) -> tuple[int, str, str]:
        """Run the starter to its end; return its exit code and what it wrote."""
        process = self.begin(script, **variables)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def stop(self, process: subprocess.Popen[str], after: str, processes: int = 1) -> tuple[int, str, str]:
        """Send SIGTERM to the starter once so many processes have said `after`, as StopTrainingJob does."""
        assert process.stdout is not None
        seen = ""
        while seen.count(after) < processes:
            line = process.stdout.readline()
            assert line, "it ended too early"
            seen += line
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        return process.returncode, seen + out, err

    @property
    def failure(self) -> str:
        """The failure file; empty if there is none."""
        file = self.base / "output" / "failure"
        return file.read_text() if file.exists() else ""
