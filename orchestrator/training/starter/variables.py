"""The environment of a training that our starter starts: what AWS's toolkit would set of it, and scripts read.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from orchestrator.training.starter.machine import count_gpus

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from orchestrator.training.starter.machine import Machine

MEETING_PORT = 7777
"""The port at which processes of several machines meet, as under AWS's toolkit."""


def make_environment(environ: Mapping[str, str], machine: Machine) -> dict[str, str]:
    """Return the environment of the training's processes on a machine, given that of its container.

    What the container has already goes before ours.
    """
    path = os.pathsep.join(filter(None, (str(machine.code), environ.get("PYTHONPATH"))))
    own = {name: machine.here(value) for name, value in environ.items()}
    return {**_facts(machine), **own, "PYTHONPATH": path}


def _facts(machine: Machine) -> dict[str, str]:
    base = machine.base
    facts = {
        "hosts": list(machine.hosts),
        "current_host": machine.host,
        "current_instance_type": machine.instance_type,
        "network_interface_name": machine.interface,
        "num_cpus": os.cpu_count(),
        "num_gpus": count_gpus(),
        "input_dir": str(base / "input"),
        "input_config_dir": str(base / "input" / "config"),
        "output_dir": str(base / "output"),
        "output_data_dir": str(base / "output" / "data"),
        "model_dir": str(base / "model"),
        "channels": list(machine.channels),
        "hps": machine.parameters,
        **{f"channel_{name}": machine.folders[f"data:{name}"] for name in machine.channels},
        **{f"hp_{name}": value for name, value in machine.parameters.items()},
    }
    # The log is read while it is written. Under mpirun it is by itself, and unbuffered lines would be torn there.
    unbuffered = {} if machine.order.get("parallel") == "mpi" else {"PYTHONUNBUFFERED": "1"}
    return {
        **unbuffered,
        "MASTER_ADDR": machine.hosts[0],
        "MASTER_PORT": str(MEETING_PORT),
        "NCCL_SOCKET_IFNAME": machine.interface,
        **{f"SM_{name.upper()}": _as_variable(value, machine) for name, value in facts.items()},
    }


def _as_variable(value: Any, machine: Machine) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return machine.here(text)
