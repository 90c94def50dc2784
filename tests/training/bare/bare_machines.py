"""Bare machines as plain processes, with folders in the place of /opt/ml, on a local cloud's S3."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.source import BARE, pack
from orchestrator.training.bare.assignment import Assignment, Channel
from orchestrator.training.bare.stub import make_stub
from orchestrator.training.bare.telling.outcome import MachineOutcome, read_machine_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.aws.s3 import S3

PATIENCE_S = 120.0
PATH = (str(Path(sys.executable).parent),)
"""The folder with the Python that runs the tests."""


@dataclass
class Bare:
    """One training on bare machines."""

    bucket: S3
    folder: Path
    name: str
    environ: Mapping[str, str]
    machines: list[subprocess.Popen[str]] = field(default_factory=list)
    own: Mapping[str, str] = field(default_factory=lambda: {"SWEEP_ADDRESS": "127.0.0.1", "OMPI_MCA_plm_rsh_agent": ""})
    """Variables of each machine, with {index} in them."""

    @property
    def output(self) -> str:
        return self.bucket.uri(f"{self.name}/trainings/{self.name}-0-1")

    def start(self, script: str, machines: int = 1, order: Mapping[str, Any] | None = None, **more: Any) -> None:
        """Put sources, data and assignment into S3, and start the machines as their stub does."""
        source = self.folder / "source"
        source.mkdir(exist_ok=True)
        (source / "train.py").write_text(script)
        package = pack(source, ours=BARE)
        sources = f"{self.name}/{package.digest}.tar.gz"
        self.bucket.put_once(sources, package.body)
        self.bucket.put_once(f"{self.name}/data/a.txt", b"alpha")
        self.bucket.put_once(f"{self.name}/data/deep/b c.txt", b"beta")
        told = {"sweep_start": {"command": ["train.py", "{arguments}"], "data": "training", **(order or {})}, "lr": 0.5}
        data = Channel(self.bucket.uri(f"{self.name}/data/"))
        assignment = Assignment(
            training=f"{self.name}-0-1",
            region=self.bucket.region,
            output=self.output,
            sources=self.bucket.uri(sources),
            hyperparameters={name: json.dumps(value) for name, value in told.items()},
            log_group="/sweep/trainings",
            **{
                "kind": "pod",
                "path": PATH,
                "look_s": 0.2,
                "instances": machines,
                "channels": {"training": data},
                **more,
            },
        )
        text = json.dumps(assignment.to_json()).encode()
        self.bucket.put_once(f"{self.name}/assignment.json", text)
        where, digest = self.bucket.uri(f"{self.name}/assignment.json"), hashlib.sha256(text).hexdigest()
        for index in range(machines):
            own = {
                "SWEEP_BASE": str(self.folder / f"ml-{index}"),
                "SWEEP_INDEX": str(index),
                "SWEEP_HOSTS_FILE": "",
                "AWS_REGION": self.bucket.region,
                **{name: value.format(index=index) for name, value in self.own.items()},
            }
            self.machines.append(
                subprocess.Popen(
                    [sys.executable, "-c", make_stub("pod"), self.bucket.uri(sources), where, digest],
                    env={**os.environ, **self.environ, **own},
                    stdout=(self.folder / f"log-{index}").open("ab"),
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )

    def log(self, index: int = 0) -> str:
        """Return what a machine has written so far."""
        return (self.folder / f"log-{index}").read_text()

    def await_line(self, text: str, index: int = 0) -> None:
        """Return once a machine has written a text."""
        self.await_that(lambda: text in self.log(index), f"{text!r} of machine {index}")

    def await_that(self, is_so: Callable[[], bool], what: str) -> None:
        """Return once something is so."""
        ends_at = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < ends_at, f"no {what}:\n{self.log()}"
            time.sleep(0.05)

    def has(self, key: str) -> bool:
        """Return whether an object is in the bucket."""
        return self.bucket.exists(key)

    def terminate(self, index: int = 0) -> None:
        """Take a machine away as its platform does: by SIGTERM."""
        self.machines[index].send_signal(signal.SIGTERM)

    def outcome(self, index: int = 0) -> MachineOutcome:
        """Return how a machine ended, once it has."""
        self.machines[index].wait(PATIENCE_S)
        body = self.bucket.get(f"{self.name}/trainings/{self.name}-0-1/machines/{index}/outcome.json").body
        return read_machine_outcome(body)

    def end(self) -> None:
        """Leave nothing running."""
        for machine in self.machines:
            machine.kill()
            machine.wait()
        ours = f"TRAINING_JOB_NAME={self.name}-0-1".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has just ended, or is not ours
                if ours in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)
