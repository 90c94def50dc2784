"""A training on its instances, from the moment it gets them to the moment it gives them back.

After an interruption the same training runs again, on other instances: that is another Run.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

from orchestrator.localcloud.logs import Stream
from orchestrator.localcloud.processes import Command, Ending
from orchestrator.localcloud.training import container, report, requirements, toolkit
from orchestrator.localcloud.training.checkpoints import Checkpoints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from orchestrator.localcloud.clock import Alarm
    from orchestrator.localcloud.logs import Tail
    from orchestrator.localcloud.site import Site
    from orchestrator.localcloud.training.job import Training

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
        self._hosts: list[toolkit.Host] = []
        self._launches: dict[str, toolkit.Launch | None] = {}
        self._processes: dict[str, str] = {}
        self._codes: dict[str, int] = {}
        self._tails: list[Tail] = []
        self._checkpoints: list[Checkpoints] = []
        self._lock = threading.RLock()
        """Of the processes: one may end while the next is being started."""

    # Before

    def prepare(self) -> None:
        """Copies may be large."""
        request, objects = self.training.request, self._site.objects
        self._hosts = container.hosts(request, self._folder, self._scratch)
        config = request.get("CheckpointConfig")
        self._checkpoints = [Checkpoints(host, config, objects) for host in self._hosts] if config else []
        for host in self._hosts:
            container.fill(host, request, objects)
        for checkpoints in self._checkpoints:
            checkpoints.restore()
        self._launches = {host.name: self._launch(host) for host in self._hosts}

    def _launch(self, host: toolkit.Host) -> toolkit.Launch | None:
        algorithm = self.training.request["AlgorithmSpecification"]
        if entrypoint := algorithm.get("ContainerEntrypoint"):
            words = [*entrypoint, *algorithm.get("ContainerArguments", ())]
            return toolkit.Launch([word.replace("/opt/ml", str(host.base)) for word in words], toolkit.variables(host))
        return toolkit.launch(host)

    # While

    def start(self, ended: Callable[[], None]) -> None:
        """A process for each host; `ended` is called when the last has ended."""
        with self._lock:
            for host in self._hosts:
                self._start(host, self._launches[host.name], ended)

    def _start(self, host: toolkit.Host, launch: toolkit.Launch | None, ended: Callable[[], None]) -> None:
        file = host.base / "log"
        stream = Stream(self.training.region, LOG_GROUP, f"{self.training.name}/{host.name}-{int(self.since)}")
        if launch is None:
            file.write_text("Starting MPI run as worker node.\n")
        else:
            file.write_text(f"Invoking script with the following command:\n{' '.join(launch.argv)}\n")
        self._tails.append(self._site.logs.open(stream, file))
        if launch is None:
            return
        self._processes[host.name] = self._site.processes.start(
            Command(self._command(host, launch), self._environment(host, launch), host.code, file),
            started=lambda: None,
            ended=lambda ending: self._on_ended(host, ending, ended),
        )

    def _command(self, host: toolkit.Host, launch: toolkit.Launch) -> list[str]:
        """A container with an entrypoint of its own does not have the toolkit install what its code requires."""
        own = "ContainerEntrypoint" in self.training.request["AlgorithmSpecification"]
        return launch.argv if own else requirements.before(launch.argv, host)

    def _environment(self, host: toolkit.Host, launch: toolkit.Launch) -> dict[str, str]:
        asked = {name: host.local(value) for name, value in self.training.request.get("Environment", {}).items()}
        site = self._site.environment
        path = os.pathsep.join(filter(None, (str(host.code), str(host.packages), site.get("PYTHONPATH"))))
        return {
            **site,
            "PYTHONPATH": path,
            "TRAINING_JOB_NAME": self.training.name,
            "TRAINING_JOB_ARN": self.training.arn,
            **launch.environment,
            **asked,
            "AWS_REGION": self.training.region,
            "AWS_DEFAULT_REGION": self.training.region,
        }

    def _on_ended(self, host: toolkit.Host, ending: Ending, ended: Callable[[], None]) -> None:
        """When one host fails the others are of no use; when all have ended, the run has."""
        with self._lock:
            del self._processes[host.name]
            self._codes[host.name] = 127 if ending.code is None else ending.code
            if ending.code is None:
                (host.base / "log").write_text(f"{ending.refusal}\n")
            if ending.code != 0:
                self.signal(signal.SIGKILL)
            if not self._processes:
                ended()

    def signal(self, number: int) -> None:
        with self._lock:
            for process in self._processes.values():
                self._site.processes.signal(process, number)

    @property
    def has_checkpoints(self) -> bool:
        return bool(self._checkpoints)

    def save_checkpoints(self) -> None:
        for checkpoints in self._checkpoints:
            checkpoints.save()

    # After

    @property
    def code(self) -> int:
        """Of the first host that failed; 0 when none has."""
        return next((code for code in self._codes.values() if code), 0)

    def close_logs(self) -> list[str]:
        """Its streams are complete; the lines of all hosts."""
        lines: list[str] = []
        for tail in self._tails:
            self._site.logs.close(tail)
            lines += tail.file.read_text(errors="replace").splitlines()
        self._tails.clear()
        return lines

    def failure(self, lines: list[str]) -> str:
        output = self._hosts[0].base / "output"
        command = next((launch.argv for launch in self._launches.values() if launch), [])
        report.write_failure(output, self.code, command, lines)
        return report.failure_reason(output, self.code)

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
