"""The variables and arguments that the sagemaker-training toolkit would give the command of a host. Pure.

One machine plays all hosts here, so two things differ from AWS. Hosts meet at a free port of this machine, and
libraries keep to one thread each. The rest is the toolkit's (version 5.1), as far as a training can see.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines.processes import SHARED_CORES

if TYPE_CHECKING:
    from orchestrator.localcloud.services.sagemaker.host.host import Host

TRAINING_MODULE = "sagemaker_pytorch_container.training:main"
"""What the PyTorch images run. It knows torchrun, and writes errors into the failure file."""

_MPI_PREFIX = {"OPAL_PREFIX": sys.prefix} if (Path(sys.prefix) / "bin" / "mpirun").exists() else {}
"""The folder of the wheel's Open MPI, which its `mpirun` finds by itself. Programs that mpirun did not start do not."""
_TOOLKITS = "sagemaker_"
"""The beginning of the names of the toolkit's own hyperparameters; the others are the user's."""
_NOT_THE_USERS = ("_tuning_objective_metric",)
_NOT_PASSED_ON = (
    "sagemaker_program",
    "sagemaker_submit_directory",
    "sagemaker_enable_cloudwatch_metrics",
    "sagemaker_region",
    "sagemaker_container_log_level",
    "sagemaker_job_name",
    "sagemaker_s3_output",
)
"""Hyperparameters that the toolkit reads itself; its other ones are for the framework."""
_ONLY_IN_TRAINING_ENV = (
    *("hyperparameters", "channel_input_dirs", "additional_framework_parameters", "distribution_hosts", "topology"),
    *("is_master", "master_hostname", "job_name"),
    *("is_modelparallel_enabled", "is_smddpmprun_installed", "is_smddprun_installed"),
)
"""Facts that SM_TRAINING_ENV has, and that have no variable of their own."""


def arguments(host: Host) -> list[str]:
    """Return the user's hyperparameters as command-line arguments, sorted by name."""
    words: list[str] = []
    for name, value in sorted(_users_hyperparameters(host).items()):
        words.append(f"--{name}" if len(name) > 1 else f"-{name}")
        if isinstance(value, dict):
            words.append(",".join(f"{k}={v}" for k, v in sorted(value.items())))
        else:
            words.append(_text(value))
    return words


def variables(host: Host) -> dict[str, str]:
    """Return the SM_* variables and the others that the toolkit sets."""
    decoded = _decoded(host)
    facts = _facts(host)
    own_names = {
        "hps": facts["hyperparameters"],
        "channels": list(facts["channel_input_dirs"]),
        "framework_params": facts["additional_framework_parameters"],
        "user_args": arguments(host),
        "training_env": facts,
        **{f"channel_{name}": path for name, path in facts["channel_input_dirs"].items()},
        **{f"hp_{name}": value for name, value in facts["hyperparameters"].items()},
    }
    shown = {name: value for name, value in facts.items() if name not in _ONLY_IN_TRAINING_ENV} | own_names
    toolkit = {
        "SAGEMAKER_BASE_DIR": str(host.home),
        "SAGEMAKER_JOB_NAME": _text(decoded.get("sagemaker_job_name", "")),
        "SAGEMAKER_TRAINING_MODULE": TRAINING_MODULE,
        "SAGEMAKER_REGION": _text(decoded.get("sagemaker_region", host.region)),
        "CURRENT_HOST": host.name,
        "NCCL_DEBUG": "WARN",
        "NCCL_IB_DISABLE": "1",
        "NCCL_SOCKET_IFNAME": host.interface,
        **one_machine_for_all(host),
    }
    return {**toolkit, **{f"SM_{name.upper()}": _variable(value) for name, value in shown.items()}}


def one_machine_for_all(host: Host) -> dict[str, str]:
    """Return the variables that let one machine play several hosts, whoever starts the training."""
    return {
        "TMPDIR": str(host.scratch),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(host.port),
        **_MPI_PREFIX,
        **SHARED_CORES,
    }


def toolkit_settings(host: Host) -> dict[str, Any]:
    """Return the hyperparameters that are the toolkit's own, decoded."""
    return {name: value for name, value in _decoded(host).items() if name.startswith(_TOOLKITS)}


def _facts(host: Host) -> dict[str, Any]:
    """Return all that SM_TRAINING_ENV says, in the toolkit's names."""
    decoded = _decoded(host)
    config = host.resource_config
    folders = {
        "input_dir": host.home / "input",
        "input_config_dir": host.home / "input" / "config",
        "output_dir": host.home / "output",
        "output_data_dir": host.home / "output" / "data",
        "output_intermediate_dir": host.home / "output" / "intermediate",
        "model_dir": host.home / "model",
    }
    framework = {name: value for name, value in toolkit_settings(host).items() if name not in _NOT_PASSED_ON}
    distributed = any(value for name, value in framework.items() if name.endswith("_enabled"))
    program = decoded.get("sagemaker_program", "")
    return {
        "hosts": host.hosts,
        "current_host": host.name,
        "network_interface_name": host.interface,
        "current_instance_type": config["current_instance_type"],
        "current_instance_group": config["current_group_name"],
        "current_instance_group_hosts": host.hosts,
        "instance_groups": [config["current_group_name"]],
        "instance_groups_dict": {group["instance_group_name"]: group for group in config["instance_groups"]},
        "distribution_instance_groups": [config["current_group_name"]] if distributed else [],
        "distribution_hosts": host.hosts if distributed else [],
        "topology": [],
        "is_hetero": False,
        "is_master": host.is_master,
        "master_hostname": host.hosts[0],
        "job_name": host.job,
        "hyperparameters": _users_hyperparameters(host),
        "resource_config": config,
        "input_data_config": host.channels,
        "channel_input_dirs": {name: str(host.home / "input" / "data" / name) for name in sorted(host.channels)},
        "additional_framework_parameters": framework,
        "user_entry_point": program,
        "module_name": str(program).removesuffix(".py"),
        "module_dir": decoded.get("sagemaker_submit_directory", str(host.home / "code")),
        "log_level": decoded.get("sagemaker_container_log_level", 20),
        "framework_module": TRAINING_MODULE,
        "num_cpus": os.cpu_count(),
        "num_gpus": 0,
        "num_neurons": 0,
        "is_modelparallel_enabled": None,
        "is_smddpmprun_installed": False,
        "is_smddprun_installed": False,
        **{name: str(folder) for name, folder in folders.items()},
    }


def _decoded(host: Host) -> dict[str, Any]:
    """Return all hyperparameters as what their JSON says, with paths as they are on this machine."""
    return {name: host.local(_json(value)) for name, value in host.hyperparameters.items()}


def _users_hyperparameters(host: Host) -> dict[str, Any]:
    return {
        name: value
        for name, value in _decoded(host).items()
        if not name.startswith(_TOOLKITS) and name not in _NOT_THE_USERS
    }


def _json(value: str) -> Any:
    """Return what a value says in JSON; the value itself when it is no JSON."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _variable(value: Any) -> str:
    """Return a value as the text of a variable: JSON unless it is text already."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
