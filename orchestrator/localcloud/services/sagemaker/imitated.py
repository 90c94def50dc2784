"""Trainings as the toolkit would start them: its launch lines, run here, with a folder in /opt/ml's stead."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines.processes import Command
from orchestrator.localcloud.services.sagemaker import container, report, requirements, starter, toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from orchestrator.localcloud.machines.processes import Ending
    from orchestrator.localcloud.services.moto_backends import Objects
    from orchestrator.localcloud.services.sagemaker.job import Training
    from orchestrator.localcloud.services.sagemaker.toolkit import Host

_TAG = re.compile(r"\[(\d),(\d+)\]<(stdout|stderr)>")


@dataclass(frozen=True)
class Imitated:
    environment: Mapping[str, str]
    objects: Objects
    told = ""
    exhausting = signal.SIGKILL

    def interface(self, request: Mapping[str, Any]) -> str:  # noqa: ARG002
        """All hosts are this machine."""
        return "lo"

    def unpack(self, host: Host) -> None:
        container.unpack_code(host, self.objects)

    def commands(self, training: Training, hosts: list[Host], folder: Path) -> dict[str, Command]:  # noqa: ARG002
        found = {}
        for host in hosts:
            launch = _launch(training, host)
            if launch is None:
                host.log.write_text("Starting MPI run as worker node.\n")
                continue
            host.log.write_text(f"Invoking script with the following command:\n{' '.join(launch.argv)}\n")
            argv = launch.argv if starter.entrypoint(training) else requirements.before(launch.argv, host)
            found[host.name] = Command(argv, self._variables(training, host, launch), host.code, host.log)
        return found

    def shown(self, training: Training) -> Callable[[str], str]:
        """With rank and host in words, where `mpirun` has tagged it."""
        each = int(training.request.get("HyperParameters", {}).get("sagemaker_mpi_num_of_processes_per_host", 1))

        def told(tag: re.Match[str]) -> str:
            job, rank, stream = tag.groups()
            return f"[{job},mpirank:{rank},algo-{int(rank) // each + 1}]<{stream}>"

        return lambda line: _TAG.sub(told, line)

    def failure(self, training: Training, hosts: list[Host], ending: Ending, lines: list[str]) -> str:
        """The toolkit tells of a script's end in its file, and ends with 1 itself."""
        output = hosts[0].base / "output"
        code = 127 if ending.code is None else ending.code
        if starter.entrypoint(training):
            return report.failure_reason(output, code)
        launch = _launch(training, hosts[0])
        report.write_failure(output, -ending.signal or code, launch.argv if launch else [], lines)
        return report.failure_reason(output, 1)

    def _variables(self, training: Training, host: Host, launch: toolkit.Launch) -> dict[str, str]:
        path = os.pathsep.join(filter(None, (str(host.code), str(host.packages), self.environment.get("PYTHONPATH"))))
        return {
            **self.environment,
            "PYTHONPATH": path,
            **launch.environment,
            **{name: host.local(value) for name, value in starter.asked(training).items()},
            **starter.environment(training),
        }


def _launch(training: Training, host: Host) -> toolkit.Launch | None:
    if words := starter.entrypoint(training):
        return toolkit.Launch([word.replace("/opt/ml", str(host.base)) for word in words], toolkit.variables(host))
    return toolkit.launch(host)
