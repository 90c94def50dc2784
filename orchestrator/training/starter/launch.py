"""The command line that starts a training's processes on a machine: alone, by torchrun, or by mpirun.

It travels into the training: standard library only.
"""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from orchestrator.training.starter.machine import count_gpus
from orchestrator.training.starter.words import Arguments, make_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.training.starter.machine import Machine

_STAYS_HERE = ("HOSTNAME", "HOME", "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "SM_CURRENT_HOST")
"""Variables that mean something else on another machine."""


_RESTARTS = 10
"""Times that torchrun starts processes again in one place: each loss of a machine takes one."""


class CannotStart(Exception):
    """The image or the order lacks what the training needs to start."""


def make_line(machine: Machine, environ: Mapping[str, str]) -> list[str]:
    """Return what to run on this machine. CannotStart if there is no such way to start, or no such program."""
    parallel = machine.order.get("parallel", "single")
    script = _script(machine, under_mpi=parallel == "mpi")
    if parallel == "single":
        return script
    if parallel == "torchrun":
        return [*_torchrun(machine, environ), *script]
    if parallel == "mpi":
        return [*_mpirun(machine, environ), *script]
    raise CannotStart(f"the starter does not know how to start {parallel}")


def _script(machine: Machine, *, under_mpi: bool) -> list[str]:
    """Return the training's own command. A .py as first word is run by this Python, a file of the code as it is."""
    if "command" not in machine.order:
        raise CannotStart("there is no hyperparameter sweep_start that says what to start")
    arguments = Arguments(**machine.order.get("arguments", {}))
    words = make_command(machine.order["command"], arguments, machine.parameters, machine.folders)
    first, *others = map(machine.here, words)
    if first.endswith(".py"):
        # mpi4py ends all ranks when one raises; without it the others wait for that one for ever.
        python = [sys.executable, "-m", "mpi4py"] if under_mpi and find_spec("mpi4py") else [sys.executable]
        return [*python, first, *others]
    file = machine.code / first
    if file.is_file():
        file.chmod(0o755)
        return [str(file), *others]
    return [first, *others]


def _processes(machine: Machine) -> int:
    """Return how many processes run on each machine: as many as the order says, else one a GPU, else one."""
    wanted = machine.order.get("processes")
    return wanted if isinstance(wanted, int) else count_gpus() or 1


def _torchrun(machine: Machine, environ: Mapping[str, str]) -> list[str]:
    torchrun = shutil.which("torchrun", path=environ.get("PATH"))
    line = [torchrun] if torchrun else [sys.executable, "-m", "torch.distributed.run"]
    least = machine.order.get("least")
    if least:
        return [*line, "--nproc_per_node", str(_processes(machine)), *_elastic(machine, least, environ), "--no-python"]
    line += ["--nnodes", str(len(machine.hosts)), "--nproc_per_node", str(_processes(machine))]
    if len(machine.hosts) > 1:
        line += ["--master_addr", environ["MASTER_ADDR"], "--master_port", environ["MASTER_PORT"]]
        line += ["--node_rank", str(machine.hosts.index(machine.host))]
    return [*line, "--no-python"]


def _elastic(machine: Machine, least: int, environ: Mapping[str, str]) -> list[str]:
    """Return torchrun's words for machines that come and go: so many are enough, and the first is where they meet."""
    settings = {"is_host": str(machine.is_first), "last_call_timeout": "10", "join_timeout": "1800"}
    return [
        *("--nnodes", f"{least}:{len(machine.hosts)}", "--max-restarts", str(_RESTARTS)),
        *("--rdzv-backend", "c10d", "--rdzv-id", environ.get("TRAINING_JOB_NAME", "training")),
        *("--rdzv-endpoint", f"{environ['MASTER_ADDR']}:{environ['MASTER_PORT']}", "--local-addr", machine.host),
        *("--rdzv-conf", ",".join(f"{name}={value}" for name, value in settings.items())),
    ]


def _mpirun(machine: Machine, environ: Mapping[str, str]) -> list[str]:
    """Return the line that AWS's toolkit makes, but that every variable reaches the ranks of other machines."""
    mpirun = shutil.which("mpirun", path=environ.get("PATH"))
    if mpirun is None:
        raise CannotStart("there is no mpirun in the image")
    each = _processes(machine)
    several = len(machine.hosts) > 1
    hosts = [f"{name}:{each}" for name in machine.hosts] if several else [f"localhost:{each}"]
    line = [mpirun, "--host", ",".join(hosts), "-np", str(each * len(machine.hosts)), "--allow-run-as-root"]
    line += ["--tag-output", "--bind-to", "none", "--map-by", "slot"]
    for name, value in {
        "btl_tcp_if_include": machine.interface,
        "oob_tcp_if_include": machine.interface,
        "plm_rsh_no_tree_spawn": "1",
        "pml": "ob1",
        "btl": "^openib",
        "orte_abort_on_non_zero_status": "1",
        "btl_vader_single_copy_mechanism": "none",
    }.items():
        line += ["--mca", name, value]
    passed_on = sorted(name for name in environ if name not in _STAYS_HERE and not name.startswith(("OMPI_", "PMIX_")))
    for name in passed_on if several else ():
        line += ["-x", name]
    return [*line, *machine.order.get("mpi_options", "").split()]
