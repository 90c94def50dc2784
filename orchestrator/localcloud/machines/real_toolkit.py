"""Starts trainings with AWS's real training toolkit, on hosts that are containers.

The toolkit's `train` has a Python environment of its own. (`services/sagemaker` has what imitates the toolkit, for
clouds that are started without `--toolkit`.)

Each host has namespaces of its own for mounts, processes, host name and IPC, and its folder at /opt/ml. Hosts that talk
to each other, or run MPI's sshd, have a network of their own, with no way out but to this cloud. Where the machine has
no namespaces to give, a training of one host without MPI runs as a plain process, with SAGEMAKER_BASE_DIR in /opt/ml's
stead.
"""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines import machine, prerequisites
from orchestrator.localcloud.machines.processes import SHARED_CORES, Command
from orchestrator.localcloud.services.sagemaker import failure
from orchestrator.localcloud.services.sagemaker.toolkit import starter, variables
from orchestrator.localcloud.services.sagemaker.toolkit.starter import CannotStart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.localcloud.machines.own_mounts import OwnMounts
    from orchestrator.localcloud.machines.processes import Ending
    from orchestrator.localcloud.machines.tunnel import Tunnel
    from orchestrator.localcloud.services.sagemaker.host.host import Host
    from orchestrator.localcloud.services.sagemaker.training import Training

_OWN, _SHARED = "eth0", "lo"
"""The interface of a host in a network of its own, and of one in this machine's."""
_NOT_THEIRS = ("PYTHONPATH", "VIRTUAL_ENV")
"""Variables of this process that would lead a training to this process's packages."""


@dataclass(frozen=True)
class RealToolkit:
    """A Starter whose processes are those of AWS's toolkit."""

    python: Path
    """The environment that the toolkit is installed in."""
    environment: Mapping[str, str]
    """Variables that every process gets."""
    tunnel: Tunnel
    """The way to this cloud from a host in a network of its own."""
    refusal: str
    """Why hosts cannot be containers on this machine; empty when they can."""
    mounts: OwnMounts
    out_of_memory_signal = signal.SIGUSR1  # pid1.py, which every host begins with, then kills the training

    @property
    def description(self) -> str:
        """What the server says about how it starts trainings."""
        if self.refusal:
            return f"trainings of one host run under AWS's toolkit; MPI and several hosts do not, for {self.refusal}"
        containers = "trainings run under AWS's toolkit, each host in a container"
        return f"{containers}; {self.mounts.description}" if self.mounts.description else containers

    def home(self, base: Path) -> Path:
        """Return /opt/ml, or the folder in its stead where hosts are no containers."""
        return base if self.refusal else Path("/opt/ml")

    def network_interface(self, request: Mapping[str, Any]) -> str:
        """Return the network interface for a training's hosts; raise CannotStart when it cannot run here."""
        config = request["ResourceConfig"]
        usual = config.get("InstanceCount", 1)
        several = any(each.get("InstanceCount", usual) > 1 for each in config.get("InstancePreferences", [config]))
        mpi = request.get("HyperParameters", {}).get("sagemaker_mpi_enabled") == "true"
        isolated = bool(request.get("EnableNetworkIsolation"))
        if (several or mpi or isolated) and self.refusal:
            what = "MPI needs" if mpi else "several hosts need" if several else "hosts that are cut off need"
            raise CannotStart(f"{what} namespaces of their own under the toolkit: {self.refusal}")
        if mpi and not prerequisites.SSHD.exists():
            raise CannotStart(
                f"MPI's hosts log in to each other, and there is no {prerequisites.SSHD}: install openssh-server"
            )
        if mpi and several and not machine.IS_ROOT:
            raise CannotStart("MPI's hosts log in to each other by sshd, which here only root can run")
        return _OWN if several or mpi or isolated else _SHARED

    def unpack_code(self, host: Host) -> None:
        """Do nothing: the toolkit unpacks the code itself."""

    def commands(self, training: Training, hosts: list[Host], folder: Path) -> dict[str, Command]:
        """Return one command for all hosts; it ends with the first host that fails, or when all have ended."""
        for host in hosts:
            host.log.write_text(starter.first_lines(host, self.mounts))
        leader = hosts[0]
        if self.refusal:
            return {leader.name: self._plain(training, leader)}
        if leader.interface == _OWN:
            _make_key(folder / "keys")
        command = machine.contained(
            [self._contained(training, host, folder / "keys") for host in hosts], folder / "hosts.json"
        )
        return {"hosts": Command(command, dict(self.environment), folder, leader.log)}

    def line_formatter(self, training: Training) -> Callable[[str], str]:  # noqa: ARG002
        """Return a function that leaves a line of the log as it is."""
        return str

    def failure_reason(self, training: Training, hosts: list[Host], ending: Ending, lines: list[str]) -> str:  # noqa: ARG002
        """Return the reason from the first host that has written one, else from the exit code."""
        outputs = [host.base / "output" for host in hosts]
        with_reason = (output for output in outputs if (output / "failure").exists())
        code = 127 if ending.code is None else ending.code
        return failure.failure_reason(next(with_reason, outputs[0]), code)

    # Hosts

    def _contained(self, training: Training, host: Host, keys: Path) -> machine.Machine:
        """Return a host that is a container."""
        way_out = "" if training.isolated else str(self.tunnel.path)
        network = machine.Network(f"{_address(host, host.name)}/16", self.tunnel.port, way_out)
        names = "".join(f"{_address(host, name)} {name}\n" for name in host.hosts)
        return machine.Machine(
            name=host.name,
            command=_command(training),
            folder="/opt/ml/code",
            log=str(host.log),
            environment={**self._variables(training), "HOME": "/root"},
            within=self.mounts.streaming([host.channel(name) for name in sorted(host.streamed)]),
            layout=machine.Layout(
                base=str(host.base),
                python=str(self.python),
                addresses=f"127.0.0.1 localhost\n{names}",
                keys=str(keys),
                network=network if host.interface == _OWN else None,
            ),
        )

    def _plain(self, training: Training, host: Host) -> Command:
        """Return the command of a host that is a plain process, with its folder in /opt/ml's stead."""
        command = [word.replace("/opt/ml", str(host.base)) for word in _command(training)]
        own = {"SAGEMAKER_BASE_DIR": str(host.base), "SM_STUDIO_LOCAL_MODE": "true", "TMPDIR": str(host.scratch)}
        asked = {name: host.local(value) for name, value in starter.requested_environment(training).items()}
        return Command(machine.plain(command), {**self._variables(training), **asked, **own}, host.code, host.log)

    def _variables(self, training: Training) -> dict[str, str]:
        """Return the variables that an image has, and those that let several hosts share this machine's cores."""
        everybodys = starter.site_environment(self.environment, training)
        site = {name: value for name, value in everybodys.items() if name not in _NOT_THEIRS}
        return {
            **site,
            "PATH": prerequisites.programs(self.python, site["PATH"]),
            "PYTHONUNBUFFERED": "1",  # the log is read while it is written
            "SAGEMAKER_TRAINING_MODULE": variables.TRAINING_MODULE,
            "LD_LIBRARY_PATH": str(self.python / "lib"),  # mpirun hands it on, and warns when there is none
            "OPAL_PREFIX": str(self.python),  # where the wheel's Open MPI lies, on hosts that mpirun logs in to
            **SHARED_CORES,
            **starter.requested_environment(training),
            **starter.container_environment(training),
        }


def _command(training: Training) -> list[str]:
    return starter.own_entrypoint(training) or ["train"]


def _address(host: Host, name: str) -> str:
    """Return the address by which a host reaches another of the same training, or itself."""
    if host.interface == _SHARED:
        return "127.0.0.1"
    number = host.hosts.index(name)
    return f"10.77.{number // 250}.{number % 250 + 1}"


def _make_key(folder: Path) -> None:
    folder.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")], check=True)
