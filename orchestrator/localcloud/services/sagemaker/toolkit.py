"""What the sagemaker-training toolkit would run inside the container: environment, arguments, command line.

Pure: from a host's facts to a Launch. One machine plays all hosts here, so a few things differ from AWS: MPI's hosts
are all `localhost` and may be oversubscribed, its shared memory lies where we clean up, `torchrun` meets at a free port
of this machine, and libraries keep to one thread each. The rest is the toolkit's (version 5.1), as far as a training
can tell.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODULE = "sagemaker_pytorch_container.training:main"
"""What the PyTorch images run: it knows torchrun, and tells errors in the failure file."""
_OURS = "sagemaker_"  # hyperparameters of the toolkit itself; the rest are the user's
NOT_OURS = ("_tuning_objective_metric",)
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Where one machine plays several, its libraries would fight for the cores."""


@dataclass(frozen=True)
class Host:
    """One container of a training: where its /opt/ml is, and what it knows of the others."""

    base: Path
    scratch: Path
    """Its /tmp."""
    resource_config: dict[str, Any]
    channels: dict[str, dict[str, Any]]
    hyperparameters: dict[str, str]
    port: int
    """Free on this machine, for hosts to meet at."""
    job: str
    region: str

    @property
    def name(self) -> str:
        return str(self.resource_config["current_host"])

    @property
    def hosts(self) -> list[str]:
        return list(self.resource_config["hosts"])

    @property
    def is_master(self) -> bool:
        return self.name == self.hosts[0]

    @property
    def interface(self) -> str:
        return str(self.resource_config["network_interface_name"])

    @property
    def code(self) -> Path:
        return self.base / "code"

    @property
    def log(self) -> Path:
        """What it prints: outside its /opt/ml."""
        return self.base.with_suffix(".log")

    @property
    def packages(self) -> Path:
        """Where what its code requires is installed."""
        return self.base / "packages"

    def local(self, value: Any) -> Any:
        """A path under /opt/ml as it is on this machine."""
        moved = isinstance(value, str) and (value == "/opt/ml" or value.startswith("/opt/ml/"))
        return str(self.base) + value[len("/opt/ml") :] if moved else value


@dataclass(frozen=True)
class Launch:
    argv: list[str]
    environment: dict[str, str]


class Unlaunchable(Exception):
    """This request needs something that the local cloud has not; the training fails, and says so."""


def launch(host: Host) -> Launch | None:
    """What to run on a host; None for an MPI worker, where `mpirun` of the first host starts the ranks."""
    settings = {key: value for key, value in _decoded(host).items() if key.startswith(_OURS)}
    program = str(settings.get("sagemaker_program", ""))
    if not program:
        raise Unlaunchable(
            "the local cloud runs no images: give the hyperparameter sagemaker_program, or ContainerEntrypoint"
        )
    if settings.get("sagemaker_distributed_dataparallel_enabled"):
        raise Unlaunchable("smdistributed.dataparallel needs AWS's GPUs and images: the local cloud has neither")
    environment = {**variables(host), "PYTHONUNBUFFERED": "1"}
    processes = int(settings.get("sagemaker_mpi_num_of_processes_per_host") or 1)
    if settings.get("sagemaker_mpi_enabled"):
        del environment["PYTHONUNBUFFERED"]  # else the ranks' lines are torn into each other
        options = str(settings.get("sagemaker_mpi_custom_mpi_options", ""))
        argv = _mpirun(host, processes, options, environment) + _script(host, program, module="mpi4py")
        return Launch(argv, environment) if host.is_master else None
    if settings.get("sagemaker_torch_distributed_enabled") or settings.get("sagemaker_pytorch_ddp_enabled"):
        return Launch([*_torchrun(host, processes), program, *arguments(host)], {**environment, "NCCL_PROTO": "simple"})
    return Launch(_script(host, program), environment)


def arguments(host: Host) -> list[str]:
    """Hyperparameters as command-line arguments, sorted by name."""
    words: list[str] = []
    for name, value in sorted(_user(host).items()):
        words.append(f"--{name}" if len(name) > 1 else f"-{name}")
        words.append(
            ",".join(f"{k}={v}" for k, v in sorted(value.items())) if isinstance(value, dict) else _text(value)
        )
    return words


def variables(host: Host) -> dict[str, str]:
    """The SM_* environment."""
    hyperparameters = _user(host)
    decoded = _decoded(host)
    config = host.resource_config
    folders = {
        "input_dir": host.base / "input",
        "input_config_dir": host.base / "input" / "config",
        "output_dir": host.base / "output",
        "output_data_dir": host.base / "output" / "data",
        "output_intermediate_dir": host.base / "output" / "intermediate",
        "model_dir": host.base / "model",
    }
    channels = {name: str(host.base / "input" / "data" / name) for name in sorted(host.channels)}
    framework = {k: v for k, v in decoded.items() if k.startswith(_OURS) and k not in _TOOLKIT}
    distributed = any(value for name, value in framework.items() if name.endswith("_enabled"))
    program = decoded.get("sagemaker_program", "")
    facts: dict[str, Any] = {
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
        "hyperparameters": hyperparameters,
        "resource_config": config,
        "input_data_config": host.channels,
        "channel_input_dirs": channels,
        "additional_framework_parameters": framework,
        "user_entry_point": program,
        "module_name": str(program).removesuffix(".py"),
        "module_dir": decoded.get("sagemaker_submit_directory", str(host.code)),
        "log_level": decoded.get("sagemaker_container_log_level", 20),
        "framework_module": MODULE,
        "num_cpus": os.cpu_count(),
        "num_gpus": 0,
        "num_neurons": 0,
        "is_modelparallel_enabled": None,
        "is_smddpmprun_installed": False,
        "is_smddprun_installed": False,
        **{name: str(folder) for name, folder in folders.items()},
    }
    shown = {name: value for name, value in facts.items() if name not in _HIDDEN}
    shown |= {
        "hps": hyperparameters,
        "channels": list(channels),
        "framework_params": framework,
        "user_args": arguments(host),
        "training_env": facts,
        **{f"channel_{name}": path for name, path in channels.items()},
        **{f"hp_{name}": value for name, value in hyperparameters.items()},
    }
    toolkit = {
        "SAGEMAKER_BASE_DIR": str(host.base),
        "SAGEMAKER_JOB_NAME": _text(decoded.get("sagemaker_job_name", "")),
        "SAGEMAKER_TRAINING_MODULE": MODULE,
        "SAGEMAKER_REGION": _text(decoded.get("sagemaker_region", host.region)),
        "CURRENT_HOST": host.name,
        "TMPDIR": str(host.scratch),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(host.port),
        "NCCL_DEBUG": "WARN",
        "NCCL_IB_DISABLE": "1",
        "NCCL_SOCKET_IFNAME": host.interface,
        **ONE_THREAD,
    }
    return {**toolkit, **{f"SM_{name.upper()}": _variable(value) for name, value in shown.items()}}


_HIDDEN = (
    *("hyperparameters", "channel_input_dirs", "additional_framework_parameters", "distribution_hosts", "topology"),
    *("is_master", "master_hostname", "job_name"),
    *("is_modelparallel_enabled", "is_smddpmprun_installed", "is_smddprun_installed"),
)
"""In SM_TRAINING_ENV only."""
_TOOLKIT = (
    "sagemaker_program",
    "sagemaker_submit_directory",
    "sagemaker_enable_cloudwatch_metrics",
    "sagemaker_region",
    "sagemaker_container_log_level",
    "sagemaker_job_name",
    "sagemaker_s3_output",
)


def _script(host: Host, program: str, module: str = "") -> list[str]:
    python = [sys.executable, *(["-m", module] if module else [])]
    if program.endswith(".py"):
        return [*python, *([] if module else ["--"]), program, *arguments(host)]
    if (host.code / "setup.py").exists():
        return [*python, "-m", program, *arguments(host)]
    return ["/bin/sh", "-c", f"./{program} {shlex.join(arguments(host))}"]


def _mpirun(host: Host, processes: int, options: str, environment: dict[str, str]) -> list[str]:
    """The toolkit's line, but for the hosts (all on this machine), sharing its cores, and the preloaded gethostname."""
    total = processes * len(host.hosts)
    mpirun = Path(sys.prefix) / "bin" / "mpirun"
    interface = host.interface
    line = [str(mpirun) if mpirun.exists() else "mpirun", "--host", f"localhost:{total}", "-np", str(total)]
    line += ["--allow-run-as-root", "--oversubscribe", "--display-map", "--tag-output"]
    line += ["-mca", "mpi_yield_when_idle", "1"]  # ranks that spin keep those they wait for from running
    line += ["-mca", "btl_tcp_if_include", interface, "-mca", "oob_tcp_if_include", interface]
    line += ["-mca", "plm_rsh_no_tree_spawn", "1", "-bind-to", "none", "-map-by", "slot"]
    line += ["-mca", "pml", "ob1", "-mca", "btl", "^openib", "-mca", "orte_abort_on_non_zero_status", "1"]
    line += ["-mca", "btl_vader_single_copy_mechanism", "none"]
    line += ["-mca", "btl_vader_backing_directory", str(host.scratch)]
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


def _decoded(host: Host) -> dict[str, Any]:
    return {name: host.local(_json(value)) for name, value in host.hyperparameters.items()}


def _user(host: Host) -> dict[str, Any]:
    return {k: v for k, v in _decoded(host).items() if not k.startswith(_OURS) and k not in NOT_OURS}


def _json(value: str) -> Any:
    """As written when it is no JSON."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _variable(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
