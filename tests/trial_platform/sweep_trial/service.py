"""The other side of the desk: runs trainings as processes, and forgets them when they have ended.

    python -m sweep_trial.service REGION...

It takes its orders from the desk of each Region, and does not know who gave them.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.training.starter.words import Arguments
from orchestrator.wire.names import S3Uri

from sweep_trial.desk import Desk
from sweep_trial.kept import BEGUN, OUTCOME, Kept

if TYPE_CHECKING:
    from pathlib import Path

EVERY_S = 0.05


@dataclass
class Training:
    """A training that runs: a process for each instance."""

    body: dict[str, Any]
    kept: Kept
    folder: Path
    processes: list[subprocess.Popen[bytes]]
    started_at: float

    def ending(self, stopped: bool) -> dict[str, str] | None:
        """Return why the training ends now; None while it goes on."""
        codes = [process.poll() for process in self.processes]
        if stopped:
            return {"state": "cancelled", "cause": "stopped", "reason": "it was stopped"}
        if any(codes):
            return {"state": "failed", "cause": "task", "reason": self._last_line()}
        if None not in codes:
            return {"state": "done"}
        if time.time() - self.started_at > self.body["max_runtime_s"]:
            return {"state": "failed", "cause": "timeout", "reason": f"ran for {self.body['max_runtime_s']} s"}
        return None

    def end(self, how: dict[str, str]) -> None:
        """End what still runs, write down how it ended, and then forget the training."""
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        ended_at = time.time()
        for instance in range(len(self.processes)):
            self.kept.write_log(instance, (self.folder / f"log-{instance}").read_bytes())
        times = {"started_at": self.started_at, "ended_at": ended_at, "seconds": ended_at - self.started_at}
        self.kept.write(OUTCOME, {**how, **times})
        shutil.rmtree(self.folder)

    def _last_line(self) -> str:
        texts = [(self.folder / f"log-{n}").read_text(errors="replace") for n in range(len(self.processes))]
        lines = [line for text in texts for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else "it ended without a word"


class Service:
    """Runs the trainings of some Regions."""

    def __init__(self, regions: list[str]) -> None:
        self._clients = Clients()
        self._desks = {region: Desk(region) for region in regions}
        self._running: dict[tuple[str, str], Training] = {}

    def serve(self) -> None:
        while True:
            for region, desk in self._desks.items():
                for file in desk.waiting.glob("[!.]*"):
                    self._begin(region, desk, file)
            for (region, name), training in list(self._running.items()):
                stop = self._desks[region].stopping / name
                how = training.ending(stop.exists())
                if how is not None:
                    training.end(how)
                    stop.unlink(missing_ok=True)
                    del self._running[region, name]
            time.sleep(EVERY_S)

    def _begin(self, region: str, desk: Desk, file: Path) -> None:
        """Begin a training that waits, unless it has begun before."""
        body = json.loads(file.read_text())
        kept = Kept(self._clients, body["output"], region, body["name"])
        now = time.time()
        if kept.write(BEGUN, {"started_at": now}):
            folder = desk.running / body["name"]
            self._fetch(region, body, folder)
            processes = [_process(body, folder, instance) for instance in range(body["instances"])]
            self._running[region, body["name"]] = Training(body, kept, folder, processes, now)
        file.unlink()

    def _fetch(self, region: str, body: dict[str, Any], folder: Path) -> None:
        """Lay down the training's code and its data."""
        source, data = S3Uri.parse(body["source"]), S3Uri.parse(body["data"])
        with tarfile.open(fileobj=io.BytesIO(S3(self._clients, region, source.bucket).get(source.key).body)) as archive:
            archive.extractall(folder / "code", filter="data")
        bucket = S3(self._clients, region, data.bucket)
        for found in bucket.list(data.key):
            target = folder / "data" / found.key.removeprefix(data.key).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(bucket.get(found.key).body)


def _process(body: dict[str, Any], folder: Path, instance: int) -> subprocess.Popen[bytes]:
    """Start the training's code on one instance, as a script finds itself on any platform."""
    words = Arguments().options({**body["hyperparameters"], **body["point"]})
    python = ["nice", "-n", str(body["nice"]), sys.executable]
    mine = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    found = {"SM_CHANNEL_TRAINING": str(folder / "data"), "RANK": str(instance), "PYTHONUNBUFFERED": "1"}
    with (folder / f"log-{instance}").open("wb") as log:
        return subprocess.Popen(
            [*python, body["entry_point"], *words],
            cwd=folder / "code",
            env={**mine, **found, **body["environment"]},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


if __name__ == "__main__":
    Service(sys.argv[1:]).serve()
