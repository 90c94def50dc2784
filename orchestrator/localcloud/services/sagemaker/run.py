"""A training on its instances, from the moment it gets them to the moment it gives them back.

After an interruption the same training runs again, on other instances: that is another Run.
"""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from orchestrator.localcloud.services.logs import Stream
from orchestrator.localcloud.services.sagemaker import container
from orchestrator.localcloud.services.sagemaker.checkpoints import Checkpoints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from orchestrator.localcloud.clock import Alarm
    from orchestrator.localcloud.machines.processes import Command, Ending
    from orchestrator.localcloud.services.logs import Tail
    from orchestrator.localcloud.services.sagemaker.job import Training
    from orchestrator.localcloud.services.sagemaker.toolkit import Host
    from orchestrator.localcloud.site import Site

LOG_GROUP = "/aws/sagemaker/TrainingJobs"


class Run:
    def __init__(self, site: Site, training: Training, number: int, since: float) -> None:
        """`number`: of all runs of this cloud."""
        self.training = training
        self.since = since
        self.lost: str | None = None
        """Why it has lost its instances: Interrupted, or InternalServerError."""
        self.alarm: Alarm | None = None
        self._site = site
        self._folder = site.work / "training" / training.region / f"{training.name}-{number}"
        self._scratch = site.scratch / str(number)
        self._hosts: list[Host] = []
        self._commands: dict[str, Command] = {}
        self._processes: dict[str, str] = {}
        self._endings: dict[str, Ending] = {}
        self._tails: list[Tail] = []
        self._checkpoints: list[Checkpoints] = []
        self._lock = threading.RLock()
        """Of the processes: one may end while the next is being started."""

    # Before

    def prepare(self) -> None:
        """Copies may be large."""
        request, objects, starter = self.training.request, self._site.objects, self._site.starter
        self._hosts = container.hosts(self.training, self._folder, self._scratch, starter.interface(request))
        config = request.get("CheckpointConfig")
        self._checkpoints = [Checkpoints(host, config, objects) for host in self._hosts] if config else []
        for host in self._hosts:
            container.fill(host, request, objects)
            starter.unpack(host)
        for checkpoints in self._checkpoints:
            checkpoints.restore()
        self._commands = starter.commands(self.training, self._hosts, self._folder)

    # While

    def start(self, ended: Callable[[], None]) -> None:
        """Its processes; `ended` is called when the last has ended."""
        with self._lock:
            shown = self._site.starter.shown(self.training)
            for host in self._hosts:
                name = f"{self.training.name}/{host.name}-{int(self.since)}"
                stream = Stream(self.training.region, LOG_GROUP, name)
                self._tails.append(self._site.logs.open(stream, host.log, shown))
            for name, command in self._commands.items():
                self._start(name, command, ended)

    def _start(self, name: str, command: Command, ended: Callable[[], None]) -> None:
        self._processes[name] = self._site.processes.start(
            command, started=lambda: None, ended=lambda ending: self._on_ended(name, command, ending, ended)
        )

    def _on_ended(self, name: str, command: Command, ending: Ending, ended: Callable[[], None]) -> None:
        """When one fails the others are of no use; when all have ended, the run has."""
        with self._lock:
            del self._processes[name]
            self._endings[name] = ending
            if ending.code is None:
                command.log.write_text(f"{ending.refusal}\n")
            if ending.code != 0:
                self.signal(signal.SIGKILL)
            if not self._processes:
                ended()

    def signal(self, number: int) -> None:
        with self._lock:
            for process in self._processes.values():
                self._site.processes.signal(process, number)

    def exhaust(self) -> None:
        """Kill what takes the memory."""
        self.signal(self._site.starter.exhausting)

    @property
    def has_checkpoints(self) -> bool:
        return bool(self._checkpoints)

    def save_checkpoints(self) -> None:
        for checkpoints in self._checkpoints:
            checkpoints.save()

    # After

    @property
    def failed(self) -> Ending | None:
        """How the first ended that failed."""
        return next((ending for ending in self._endings.values() if ending.code != 0), None)

    def close_logs(self) -> list[str]:
        """Its streams are complete; the lines of all hosts."""
        lines: list[str] = []
        for tail in self._tails:
            self._site.logs.close(tail)
            lines += tail.text.splitlines()
        self._tails.clear()
        return lines

    def failure(self, ending: Ending, lines: list[str]) -> str:
        return self._site.starter.failure(self.training, self._hosts, ending, lines)

    def upload_output(self) -> None:
        self._upload("output", (host.base / "output" / "data" for host in self._hosts))

    def upload_model(self) -> str:
        """The model of all hosts in one archive; where it lies."""
        return self._upload("model", (host.base / "model" for host in self._hosts))

    def _upload(self, name: str, folders: Iterable[Path]) -> str:
        root = container.Uri.parse(self.training.request["OutputDataConfig"]["S3OutputPath"])
        uri = root / self.training.name / "output" / f"{name}.tar.gz"
        body = container.archive(folders)
        if body is not None:
            self._site.objects.write(uri.bucket, uri.key, body)
        return str(uri)

    def clear(self) -> None:
        self.signal(signal.SIGKILL)
        container.remove(self._folder)
        container.remove(self._scratch)
