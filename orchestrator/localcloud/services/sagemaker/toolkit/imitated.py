"""Starts trainings as AWS's toolkit would: the toolkit's commands, run here, with a folder in the place of /opt/ml."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines.no_ssh import write_agent
from orchestrator.localcloud.machines.processes import Command
from orchestrator.localcloud.machines.python_layer import make_layer
from orchestrator.localcloud.services.sagemaker import failure
from orchestrator.localcloud.services.sagemaker.host import container
from orchestrator.localcloud.services.sagemaker.toolkit import starter
from orchestrator.localcloud.services.sagemaker.toolkit.command import toolkit_command
from orchestrator.localcloud.services.sagemaker.toolkit.requirements import with_requirements
from orchestrator.localcloud.services.sagemaker.toolkit.variables import one_machine_for_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.localcloud.machines.own_mounts import OwnMounts
    from orchestrator.localcloud.machines.processes import Ending
    from orchestrator.localcloud.services.moto.backends import Objects
    from orchestrator.localcloud.services.sagemaker.host.host import Host
    from orchestrator.localcloud.services.sagemaker.training import Training

_RANK_TAG = re.compile(r"\[(\d),(\d+)\]<(stdout|stderr)>")
"""What `mpirun` writes before a line: the job, the rank, and which of its outputs it is."""

_WAITING = ["sleep", "infinity"]
"""What a host does whose ranks are started by another one."""


@dataclass(frozen=True)
class ImitatedToolkit:
    """A Starter whose hosts are plain processes of this machine, each with an /opt/ml of its own where that can be.

    Elsewhere each has a folder in its stead.
    """

    environment: Mapping[str, str]
    """Variables that every process gets."""
    objects: Objects
    mounts: OwnMounts
    out_of_memory_signal = signal.SIGKILL

    @property
    def description(self) -> str:
        """What trainings lack on this machine; empty when they lack nothing."""
        return self.mounts.description

    def home(self, base: Path) -> Path:
        """Return /opt/ml, or the folder in its stead."""
        return base if self.mounts.refusal else Path("/opt/ml")

    def network_interface(self, request: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Return the loopback interface: all hosts are this machine."""
        return "lo"

    def unpack_code(self, host: Host) -> None:
        """Unpack the code as the toolkit does."""
        container.unpack_code(host, self.objects)

    def commands(self, training: Training, hosts: list[Host], folder: Path) -> dict[str, Command]:  # noqa: ARG002
        """Return a command for each host, except for MPI's workers."""
        if words := starter.own_entrypoint(training):
            return {host.name: self._own_command(training, host, words) for host in hosts}
        found = {}
        for host in hosts:
            command = toolkit_command(host, self._agent(host))
            begin = starter.first_lines(host, self.mounts)
            if command is None:
                host.log.write_text(f"{begin}Starting MPI run as worker node.\n")
                if not self.mounts.refusal:
                    found[host.name] = replace(self._command(host, _WAITING, dict(self.environment)), waits=True)
                continue
            host.log.write_text(f"{begin}Invoking script with the following command:\n{' '.join(command.argv)}\n")
            path = os.pathsep.join((str(host.code), str(host.packages)))
            environment = self._variables(training, host, command.environment, path)
            found[host.name] = self._command(host, with_requirements(command.argv, host), environment)
        return found

    def _command(self, host: Host, argv: list[str], environment: dict[str, str]) -> Command:
        """Return the process of a host, with its own mounts around it."""
        streamed = [host.channel(name) for name in sorted(host.streamed)]
        within = self.mounts.command(host.base, host.home / "code", streamed)
        return Command([*within, *argv], environment, host.code, host.log)

    def _agent(self, host: Host) -> str:
        """Return the program by which the toolkit's `mpirun` reaches hosts that have mounts of their own."""
        join = self.mounts.join(host.base.parent)
        return str(write_agent(host.scratch.parent, join)) if join else ""

    def _own_command(self, training: Training, host: Host, words: list[str]) -> Command:
        """Return the training's own entry point. Of a toolkit it knows nothing; what it installs is its own."""
        host.log.write_text(starter.first_lines(host, self.mounts))
        programs = os.pathsep.join((str(make_layer(host.packages)), self.environment["PATH"]))
        agent = str(write_agent(host.scratch.parent, self.mounts.join(host.base.parent)))
        own = {"PATH": programs, "OMPI_MCA_plm_rsh_agent": agent, **one_machine_for_all(host)}
        environment = self._variables(training, host, own)
        return self._command(host, [word.replace("/opt/ml", str(host.home)) for word in words], environment)

    def line_formatter(self, training: Training) -> Callable[[str], str]:
        """Return a function that writes rank and host in words where `mpirun` has tagged a line."""
        processes = int(training.request.get("HyperParameters", {}).get("sagemaker_mpi_num_of_processes_per_host", 1))

        def in_words(tag: re.Match[str]) -> str:
            job, rank, stream = tag.groups()
            return f"[{job},mpirank:{rank},algo-{int(rank) // processes + 1}]<{stream}>"

        return lambda line: _RANK_TAG.sub(in_words, line)

    def failure_reason(self, training: Training, hosts: list[Host], ending: Ending, lines: list[str]) -> str:
        """Return the reason from the failure file. The toolkit writes the script's exit code there, and ends with 1."""
        output = hosts[0].base / "output"
        code = 127 if ending.code is None else ending.code
        if starter.own_entrypoint(training):
            return failure.failure_reason(output, code)
        command = toolkit_command(hosts[0])
        failure.write_failure_file(output, -ending.signal or code, command.argv if command else [], lines)
        return failure.failure_reason(output, 1)

    def _variables(self, training: Training, host: Host, own: Mapping[str, str], path: str = "") -> dict[str, str]:
        paths = os.pathsep.join(filter(None, (path, self.environment.get("PYTHONPATH"))))
        return {
            **starter.site_environment(self.environment, training),
            **({"PYTHONPATH": paths} if paths else {}),
            **own,
            **{name: host.local(value) for name, value in starter.requested_environment(training).items()},
            **starter.container_environment(training),
        }
