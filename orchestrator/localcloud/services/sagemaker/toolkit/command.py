"""The command that the sagemaker-training toolkit would run on a host of a training. Pure.

One machine plays all hosts here, so a few things differ from AWS: MPI's hosts may be oversubscribed, are reached by a
program of ours or are all `localhost`, its shared memory lies where we clean up, and `torchrun` meets at a free port of
this machine. The rest is the toolkit's (version 5.1), as far as a training can see.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud.services.sagemaker.toolkit.starter import CannotStart
from orchestrator.localcloud.services.sagemaker.toolkit.variables import arguments, toolkit_settings, variables

if TYPE_CHECKING:
    from orchestrator.localcloud.services.sagemaker.host.host import Host


@dataclass(frozen=True)
class ToolkitCommand:
    """A command line, and the variables that it needs besides those of its container."""

    argv: list[str]
    environment: dict[str, str]


def toolkit_command(host: Host, agent: str = "") -> ToolkitCommand | None:
    """Return what to run on a host, or None for an MPI worker: `mpirun` on the first host starts all ranks.

    `agent` is the program by which `mpirun` reaches the other hosts, if they are more than names for this one. Raise
    CannotStart for a training that needs what the local cloud has not.
    """
    settings = toolkit_settings(host)
    program = str(settings.get("sagemaker_program", ""))
    if not program:
        raise CannotStart(
            "the local cloud runs no images: give the hyperparameter sagemaker_program, or ContainerEntrypoint"
        )
    if settings.get("sagemaker_distributed_dataparallel_enabled"):
        raise CannotStart("smdistributed.dataparallel needs AWS's GPUs and images: the local cloud has neither")
    environment = {**variables(host), "PYTHONUNBUFFERED": "1"}
    processes = int(settings.get("sagemaker_mpi_num_of_processes_per_host") or 1)
    if settings.get("sagemaker_mpi_enabled"):
        del environment["PYTHONUNBUFFERED"]  # else the ranks' lines are torn into each other
        if not host.is_master:
            return None
        options = str(settings.get("sagemaker_mpi_custom_mpi_options", ""))
        where = _hosts(host, processes, agent)
        argv = _mpirun(host, where, options, environment) + _script_under_mpi(host, program)
        return ToolkitCommand(argv, environment)
    if settings.get("sagemaker_torch_distributed_enabled") or settings.get("sagemaker_pytorch_ddp_enabled"):
        argv = [*_torchrun(host, processes), program, *arguments(host)]
        return ToolkitCommand(argv, {**environment, "NCCL_PROTO": "simple"})
    return ToolkitCommand(_script(host, program), environment)


def _script(host: Host, program: str) -> list[str]:
    if program.endswith(".py"):
        return [sys.executable, "--", program, *arguments(host)]
    return _module_or_shell(host, program, [sys.executable])


def _script_under_mpi(host: Host, program: str) -> list[str]:
    """Return what each rank runs: a Python program runs under mpi4py, so that one rank's error ends all ranks."""
    python = [sys.executable, "-m", "mpi4py"]
    if program.endswith(".py"):
        return [*python, program, *arguments(host)]
    return _module_or_shell(host, program, python)


def _module_or_shell(host: Host, program: str, python: list[str]) -> list[str]:
    """Return the command for a program that is no Python file: a module of a package, or a file for the shell."""
    if (host.code / "setup.py").exists():
        return [*python, "-m", program, *arguments(host)]
    return ["/bin/sh", "-c", f"./{program} {shlex.join(arguments(host))}"]


def _hosts(host: Host, processes: int, agent: str) -> list[str]:
    """Return the options of `mpirun` that say on which hosts how many ranks are started."""
    total = processes * len(host.hosts)
    if not agent or len(host.hosts) == 1:
        shared_memory = ["-mca", "btl_vader_backing_directory", str(host.scratch)]
        return ["--host", f"localhost:{total}", "-np", str(total), *shared_memory]
    names = ",".join(f"{name}:{processes}" for name in host.hosts)
    return ["--host", names, "-np", str(total), "-mca", "plm_rsh_agent", agent]


def _mpirun(host: Host, where: list[str], options: str, environment: dict[str, str]) -> list[str]:
    """Return the toolkit's line, but for the hosts, the shared cores, and the preloaded gethostname."""
    mpirun = Path(sys.prefix) / "bin" / "mpirun"
    interface = host.interface
    line = [str(mpirun) if mpirun.exists() else "mpirun", *where]
    line += ["--allow-run-as-root", "--oversubscribe", "--display-map", "--tag-output"]
    line += ["-mca", "btl_tcp_if_include", interface, "-mca", "oob_tcp_if_include", interface]
    line += ["-mca", "plm_rsh_no_tree_spawn", "1", "-bind-to", "none", "-map-by", "slot"]
    line += ["-mca", "pml", "ob1", "-mca", "btl", "^openib", "-mca", "orte_abort_on_non_zero_status", "1"]
    line += ["-mca", "btl_vader_single_copy_mechanism", "none"]
    nccl = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    nccl.add_argument("--NCCL_DEBUG", default="INFO")
    known, others = nccl.parse_known_args(options.split())
    line += ["-x", "NCCL_MIN_NRINGS=4"]
    line += ["-x", f"NCCL_SOCKET_IFNAME={interface}", "-x", f"NCCL_DEBUG={known.NCCL_DEBUG}", "-x", "PATH", *others]
    theirs = (name for name in environment if name.startswith("SM_"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", *theirs):
        line += ["-x", name]
    return line


def _torchrun(host: Host, processes: int) -> list[str]:
    line = [sys.executable, "-m", "torch.distributed.run"]
    line += ["--nnodes", str(len(host.hosts)), "--nproc_per_node", str(processes)]
    if len(host.hosts) > 1:
        line += ["--master_addr", "127.0.0.1", "--master_port", str(host.port)]
        line += ["--node_rank", str(host.hosts.index(host.name))]
    return line
