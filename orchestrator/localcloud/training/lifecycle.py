"""How a training runs: prepared, started as a process per host, watched, and put away again."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.localcloud.logs import Stream
from orchestrator.localcloud.processes import Command, Ending
from orchestrator.localcloud.training import container, report, toolkit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud.site import Site
    from orchestrator.localcloud.training.job import Training

log = logging.getLogger(__name__)

LOG_GROUP = "/aws/sagemaker/TrainingJobs"
GRACE_S = 120.0
"""Between SIGTERM and SIGKILL."""


class Lifecycle:
    """Of all Regions' trainings: they share this machine, so only some of them run at once."""

    def __init__(self, site: Site, at_once: int) -> None:
        self.lock = threading.RLock()
        self._site = site
        self.numbers = itertools.count(1)
        self._room = at_once
        self._waiting: deque[Training] = deque()
        self._hosts: dict[Training, list[toolkit.Host]] = {}
        self._commands: dict[Training, list[str]] = {}
        self._workers = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="training")

    def start(self, training: Training) -> None:
        with self.lock:
            training.move("Starting", self._now())
            self._waiting.append(training)
            self._next()

    def stop(self, training: Training, secondary: str) -> None:
        """SIGTERM; SIGKILL after the grace. What has not started just ends."""
        with self.lock:
            if training.status != "InProgress":
                return
            training.stopping = secondary
            training.status = "Stopping"
            training.move("Stopping", self._now())
            if training in self._waiting:
                self._waiting.remove(training)
                training.end("Stopped", secondary, self._now())
            self._signal(training, signal.SIGTERM)
            self._site.clock.after(GRACE_S, lambda: self._signal(training, signal.SIGKILL))

    def kill(self, training: Training) -> None:
        """As if its instances had been pulled out."""
        with self.lock:
            self._signal(training, signal.SIGKILL)

    # Preparing

    def _next(self) -> None:
        while self._waiting and self._room:
            training = self._waiting.popleft()
            self._room -= 1
            training.started = self._now()
            training.move("Downloading", training.started)
            self._work(training, self._prepare)

    def _prepare(self, training: Training) -> None:
        """On a worker: copies may be large."""
        hosts = container.hosts(training.request, self._folder(training), self._scratch(training))
        self._hosts[training] = hosts
        for host in hosts:
            container.fill(host, training.request, self._site.objects)
        launches = {host.name: self._launch(training, host) for host in hosts}
        with self.lock:
            if not training.stopping:
                training.move("Training", self._now())
                limit = training.request["StoppingCondition"]["MaxRuntimeInSeconds"]
                training.alarm = self._site.clock.after(limit, lambda: self.stop(training, "MaxRuntimeExceeded"))
                for host in hosts:
                    self._run(training, host, launches[host.name])
                return
        self._finish(training)

    def _launch(self, training: Training, host: toolkit.Host) -> toolkit.Launch | None:
        algorithm = training.request["AlgorithmSpecification"]
        if entrypoint := algorithm.get("ContainerEntrypoint"):
            words = [*entrypoint, *algorithm.get("ContainerArguments", ())]
            return toolkit.Launch([word.replace("/opt/ml", str(host.base)) for word in words], toolkit.variables(host))
        return toolkit.launch(host)

    # Running

    def _run(self, training: Training, host: toolkit.Host, launch: toolkit.Launch | None) -> None:
        file = host.base / "log"
        stream = Stream(training.region, LOG_GROUP, f"{training.name}/{host.name}-{int(training.created)}")
        if launch is None:
            file.write_text("Starting MPI run as worker node.\n")
            training.tails.append(self._site.logs.open(stream, file))
            return
        self._commands.setdefault(training, launch.argv)
        file.write_text(f"Invoking script with the following command:\n{' '.join(launch.argv)}\n")
        training.tails.append(self._site.logs.open(stream, file))
        training.processes[host.name] = self._site.processes.start(
            Command(launch.argv, self._environment(training, host, launch), host.code, file),
            started=lambda: None,
            ended=lambda ending: self._on_ended(training, host, ending),
        )

    def _environment(self, training: Training, host: toolkit.Host, launch: toolkit.Launch) -> dict[str, str]:
        asked = {name: host.local(value) for name, value in training.request.get("Environment", {}).items()}
        site = self._site.environment
        path = os.pathsep.join(filter(None, (str(host.code), site.get("PYTHONPATH"))))
        return {
            **site,
            "PYTHONPATH": path,
            "TRAINING_JOB_NAME": training.name,
            "TRAINING_JOB_ARN": training.arn,
            **launch.environment,
            **asked,
            "AWS_REGION": training.region,
            "AWS_DEFAULT_REGION": training.region,
        }

    def _on_ended(self, training: Training, host: toolkit.Host, ending: Ending) -> None:
        """When one host fails the others are of no use; when all have ended, the training has."""
        with self.lock:
            del training.processes[host.name]
            training.codes[host.name] = 127 if ending.code is None else ending.code
            if ending.code is None:
                (host.base / "log").write_text(f"{ending.refusal}\n")
            if ending.code != 0:
                self._signal(training, signal.SIGKILL)
            if not training.processes:
                self._work(training, self._finish)

    # Putting away

    def _finish(self, training: Training) -> None:
        """On a worker: artifacts go to S3 before the end is told."""
        if training.alarm:
            training.alarm.cancel()
        hosts = self._hosts[training]
        code = next((code for code in training.codes.values() if code), 0)
        if training.status == "InProgress" and code == 0:
            with self.lock:
                training.move("Uploading", self._now())
        lines = self._read_logs(training)
        self._upload(training, hosts, failed=code != 0 and not training.stopping)
        training.metrics = report.metrics(
            lines, training.request["AlgorithmSpecification"].get("MetricDefinitions", []), self._now()
        )
        failure = None
        if code and not training.stopping:
            report.write_failure(hosts[0].base / "output", code, self._commands.get(training, []), lines)
            failure = report.failure_reason(hosts[0].base / "output", code)
        self._end(training, failure)

    def _end(self, training: Training, failure: str | None) -> None:
        with self.lock:
            if failure:
                training.end("Failed", "Failed", self._now(), failure)
            elif training.stopping:
                training.end("Stopped", training.stopping, self._now())
            else:
                training.end("Completed", "Completed", self._now())
            self._hosts.pop(training, None)
            self._commands.pop(training, None)
            container.remove(self._folder(training))
            container.remove(self._scratch(training))
            self._room += 1
            self._next()

    def _read_logs(self, training: Training) -> list[str]:
        lines: list[str] = []
        for tail in training.tails:
            self._site.logs.close(tail)
            lines += tail.file.read_text(errors="replace").splitlines()
        training.tails.clear()
        return lines

    def _upload(self, training: Training, hosts: list[toolkit.Host], *, failed: bool) -> None:
        """The model of all hosts in one archive; none when the training failed."""
        target = container.Uri.parse(training.request["OutputDataConfig"]["S3OutputPath"]) / training.name / "output"
        container.save_checkpoint(hosts[0], training.request, self._site.objects)
        output = container.archive(host.base / "output" / "data" for host in hosts)
        if output is not None:
            self._put(target / "output.tar.gz", output)
        if not failed:
            training.artifact = str(target / "model.tar.gz")
            model = container.archive(host.base / "model" for host in hosts)
            if model is not None:
                self._put(target / "model.tar.gz", model)

    def _put(self, uri: container.Uri, body: bytes) -> None:
        self._site.objects.write(uri.bucket, uri.key, body)

    def _work(self, training: Training, step: Callable[[Training], None]) -> None:
        """On a worker; whatever breaks there is the training's failure, told as SageMaker tells its own."""

        def run() -> None:
            try:
                step(training)
            except toolkit.Unlaunchable as reason:
                self._end(training, f"AlgorithmError: {reason}, exit code: 1")
            except Exception as error:
                log.exception("training %s broke", training.name)
                self._end(training, f"InternalServerError: {error}")

        self._workers.submit(run)

    def _signal(self, training: Training, number: int) -> None:
        for process in training.processes.values():
            self._site.processes.signal(process, number)

    def _folder(self, training: Training) -> Path:
        return self._site.work / "training" / training.region / training.name

    def _scratch(self, training: Training) -> Path:
        return self._site.scratch / str(training.number)

    def _now(self) -> float:
        return self._site.clock.now()
