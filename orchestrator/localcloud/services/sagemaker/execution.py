"""An execution: a training on its instances, from when it gets them until it gives them back.

After an interruption the same training runs again on other instances. That is another execution.
"""

from __future__ import annotations

import shutil
import signal
import threading
from typing import TYPE_CHECKING

from orchestrator.localcloud.services.logs import LogStream
from orchestrator.localcloud.services.sagemaker import permissions
from orchestrator.localcloud.services.sagemaker.host import container
from orchestrator.localcloud.services.sagemaker.host.checkpoints import Checkpoints
from orchestrator.localcloud.services.sagemaker.host.s3_files import Uri, pack, upload

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud.clock import Alarm
    from orchestrator.localcloud.machines.processes import Command, Ending
    from orchestrator.localcloud.services.logs import Tail
    from orchestrator.localcloud.services.sagemaker.host.host import Host
    from orchestrator.localcloud.services.sagemaker.training import Training
    from orchestrator.localcloud.site import Site

LOG_GROUP = "/aws/sagemaker/TrainingJobs"


class Execution:
    """Prepares a training's hosts, runs their processes, and uploads what they leave.

    Call `prepare`, `start`, and once it has ended `close_logs`, then the uploads, and `clean_up` last of all.
    """

    def __init__(self, site: Site, training: Training, number: int, since: float) -> None:
        """Begin at the moment `since`. `number` is another one for each execution of this cloud."""
        self.training = training
        self.since = since
        self.lost_by: str | None = None
        """Why the instances are lost: Interrupted, or InternalServerError."""
        self.alarm: Alarm | None = None
        """The end of the training's longest runtime."""
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
        """Guards the processes: one may end while the next is being started."""

    # Before

    def prepare(self) -> None:
        """Lay out the hosts' folders. It may take long, as data is copied.

        Raises CannotStart, see Starter, and Forbidden for what the training's role does not allow.
        """
        request, objects, starter = self.training.request, self._site.objects, self._site.starter
        permissions.check_start(self._site, self.training, LOG_GROUP)
        self._hosts = container.make_hosts(self.training, self._folder, self._scratch, starter)
        config = request.get("CheckpointConfig")
        self._checkpoints = [Checkpoints(host, config, objects) for host in self._hosts] if config else []
        for host in self._hosts:
            container.fill_folders(host, request, objects, starter.mounts.shown)
            starter.unpack_code(host)
        for checkpoints in self._checkpoints:
            checkpoints.restore()
        self._commands = starter.commands(self.training, self._hosts, self._folder)

    # While

    def start(self, ended: Callable[[], None]) -> None:
        """Start the processes; `ended` is called when the last of them has ended."""
        with self._lock:
            format_line = self._site.starter.line_formatter(self.training)
            for host in self._hosts:
                name = f"{self.training.name}/{host.name}-{int(self.since)}"
                stream = LogStream(self.training.region, LOG_GROUP, name)
                self._tails.append(self._site.logs.open(stream, host.log, format_line))
            for name, command in self._commands.items():
                self._start(name, command, ended)

    def _start(self, name: str, command: Command, ended: Callable[[], None]) -> None:
        self._processes[name] = self._site.processes.start(
            command, started=lambda: None, ended=lambda ending: self._on_ended(name, command, ending, ended)
        )

    def _on_ended(self, name: str, command: Command, ending: Ending, ended: Callable[[], None]) -> None:
        """Kill the other processes when one fails or none is left but those that wait; call `ended` after the last."""
        with self._lock:
            del self._processes[name]
            if not command.waits:
                self._endings[name] = ending
            if ending.code is None:
                command.log.write_text(f"{ending.refusal}\n")
            if ending.code != 0 or all(self._commands[each].waits for each in self._processes):
                self.signal(signal.SIGKILL)
            if not self._processes:
                ended()

    def signal(self, number: int) -> None:
        """Send a signal to all processes that run."""
        with self._lock:
            for process in self._processes.values():
                self._site.processes.signal(process, number)

    def kill_for_memory(self) -> None:
        """Kill the training as if it had taken too much memory."""
        self.signal(self._site.starter.out_of_memory_signal)

    @property
    def has_checkpoints(self) -> bool:
        """True when the request asks for checkpoints in S3."""
        return bool(self._checkpoints)

    def save_checkpoints(self) -> None:
        """Copy to S3 the checkpoints that have changed."""
        for checkpoints in self._checkpoints:
            checkpoints.save()

    # After

    @property
    def failed_ending(self) -> Ending | None:
        """The end of the process that failed before all others; None when none failed."""
        return next((ending for ending in self._endings.values() if ending.code != 0), None)

    def close_logs(self) -> list[str]:
        """Complete the log streams; return the lines of all hosts."""
        lines: list[str] = []
        for tail in self._tails:
            self._site.logs.close(tail)
            lines += tail.text.splitlines()
        self._tails.clear()
        return lines

    def failure_reason(self, ending: Ending, lines: list[str]) -> str:
        """Return why the training failed, as DescribeTrainingJob shows it."""
        return self._site.starter.failure_reason(self.training, self._hosts, ending, lines)

    def upload_output(self) -> None:
        """Write to S3 what all hosts have in their output folders: one archive, or the files."""
        self._upload("output", [host.base / "output" / "data" for host in self._hosts])

    def upload_model(self) -> str:
        """Write to S3 what all hosts have in their model folders: one archive, or the files. Return the address."""
        return self._upload("model", [host.base / "model" for host in self._hosts])

    def _upload(self, name: str, folders: list[Path]) -> str:
        config = self.training.request["OutputDataConfig"]
        place = Uri.parse(config["S3OutputPath"]) / self.training.name / "output"
        uri = place / f"{name}.tar.gz"
        permissions.check_upload(self._site, self.training, uri)
        if config.get("CompressionType") == "NONE":
            for folder in folders:
                upload(self._site.objects, folder, place / name)
            return f"{place / name}/"
        archive = pack(folders)
        if archive is not None:
            self._site.objects.write(uri.bucket, uri.key, archive)
        return str(uri)

    def clean_up(self) -> None:
        """Kill what still runs, and remove all folders."""
        self.signal(signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.rmtree(self._scratch, ignore_errors=True)
