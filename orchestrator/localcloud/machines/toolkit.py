"""Trainings under AWS's own toolkit: its `train`, in a Python environment of its own, on hosts that are containers.

Each host has mount, process, host name and IPC namespaces, and its folder at /opt/ml. Hosts that talk to each other, or
run MPI's sshd, have a network of their own, with no way out but to this cloud. Where the machine gives no namespaces, a
training of one host without MPI runs as a plain process, with SAGEMAKER_BASE_DIR in /opt/ml's stead.
"""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines import machine, prerequisites
from orchestrator.localcloud.machines.processes import Command
from orchestrator.localcloud.services.sagemaker import report, starter, toolkit
from orchestrator.localcloud.services.sagemaker.toolkit import Unlaunchable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from orchestrator.localcloud.machines.processes import Ending
    from orchestrator.localcloud.machines.tunnel import Tunnel
    from orchestrator.localcloud.services.sagemaker.job import Training
    from orchestrator.localcloud.services.sagemaker.toolkit import Host

_OWN, _SHARED = "eth0", "lo"
"""The interface of a host in a network of its own, and of one in this machine's."""
_NOT_THEIRS = ("PYTHONPATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Toolkit:
    python: Path
    """The environment that the toolkit is installed in."""
    environment: Mapping[str, str]
    door: Tunnel
    refusal: str
    """Why hosts cannot be containers on this machine; empty when they can."""
    exhausting = signal.SIGUSR1  # which the first process of a host takes up

    @property
    def told(self) -> str:
        if self.refusal:
            return f"trainings of one host run under AWS's toolkit; MPI and several hosts do not, for {self.refusal}"
        return "trainings run under AWS's toolkit, each host in a container"

    def interface(self, request: Mapping[str, Any]) -> str:
        several = request["ResourceConfig"]["InstanceCount"] > 1
        mpi = request.get("HyperParameters", {}).get("sagemaker_mpi_enabled") == "true"
        if (several or mpi) and self.refusal:
            what = "MPI needs" if mpi else "several hosts need"
            raise Unlaunchable(f"{what} namespaces of their own under the toolkit: {self.refusal}")
        if mpi and not prerequisites.SSHD.exists():
            raise Unlaunchable(
                f"MPI's hosts log in to each other, and there is no {prerequisites.SSHD}: install openssh-server"
            )
        if mpi and several and not machine.IS_ROOT:
            raise Unlaunchable("MPI's hosts log in to each other by sshd, which here only root can run")
        return _OWN if several or mpi else _SHARED

    def unpack(self, host: Host) -> None:
        """The toolkit does that itself."""

    def commands(self, training: Training, hosts: list[Host], folder: Path) -> dict[str, Command]:
        for host in hosts:
            host.log.touch()
        first = hosts[0]
        if self.refusal:
            return {first.name: self._plain(training, first)}
        if first.interface == _OWN:
            _make_key(folder / "keys")
        command = machine.contained(
            [self._contained(training, host, folder / "keys") for host in hosts], folder / "hosts.json"
        )
        return {"hosts": Command(command, dict(self.environment), folder, first.log)}

    def shown(self, training: Training) -> Callable[[str], str]:  # noqa: ARG002
        """As it is."""
        return str

    def failure(self, training: Training, hosts: list[Host], ending: Ending, lines: list[str]) -> str:  # noqa: ARG002
        outputs = [host.base / "output" for host in hosts]
        told = (output for output in outputs if (output / "failure").exists())
        return report.failure_reason(next(told, outputs[0]), 127 if ending.code is None else ending.code)

    # Hosts

    def _contained(self, training: Training, host: Host, keys: Path) -> machine.Machine:
        network = machine.Network(f"{_address(host, host.name)}/16", self.door.port, str(self.door.path))
        names = "".join(f"{_address(host, name)} {name}\n" for name in host.hosts)
        return machine.Machine(
            name=host.name,
            command=_command(training),
            folder="/opt/ml/code",
            log=str(host.log),
            environment={**self._variables(training), "HOME": "/root"},
            layout=machine.Layout(
                base=str(host.base),
                python=str(self.python),
                addresses=f"127.0.0.1 localhost\n{names}",
                keys=str(keys),
                network=network if host.interface == _OWN else None,
            ),
        )

    def _plain(self, training: Training, host: Host) -> Command:
        command = [word.replace("/opt/ml", str(host.base)) for word in _command(training)]
        own = {"SAGEMAKER_BASE_DIR": str(host.base), "SM_STUDIO_LOCAL_MODE": "true", "TMPDIR": str(host.scratch)}
        asked = {name: host.local(value) for name, value in starter.asked(training).items()}
        return Command(machine.plain(command), {**self._variables(training), **asked, **own}, host.code, host.log)

    def _variables(self, training: Training) -> dict[str, str]:
        """As the image has them, and what lets several hosts share this machine's cores."""
        site = {name: value for name, value in self.environment.items() if name not in _NOT_THEIRS}
        return {
            **site,
            "PATH": prerequisites.programs(self.python, site["PATH"]),
            "PYTHONUNBUFFERED": "1",  # the log is read while it is written
            "SAGEMAKER_TRAINING_MODULE": toolkit.MODULE,
            "LD_LIBRARY_PATH": str(self.python / "lib"),  # mpirun hands it on, and warns when there is none
            "OPAL_PREFIX": str(self.python),  # where the wheel's Open MPI lies, on hosts that mpirun logs in to
            "OMPI_MCA_mpi_yield_when_idle": "1",  # ranks that spin keep those they wait for from running
            **toolkit.ONE_THREAD,
            **starter.asked(training),
            **starter.environment(training),
        }


def _command(training: Training) -> list[str]:
    return starter.entrypoint(training) or ["train"]


def _address(host: Host, name: str) -> str:
    if host.interface == _SHARED:
        return "127.0.0.1"
    number = host.hosts.index(name)
    return f"10.77.{number // 250}.{number % 250 + 1}"


def _make_key(folder: Path) -> None:
    folder.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")], check=True)
