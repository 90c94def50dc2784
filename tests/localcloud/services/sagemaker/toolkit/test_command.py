"""Launch lines, as pure functions of a host's facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.localcloud.services.sagemaker.host.host import Host
from orchestrator.localcloud.services.sagemaker.toolkit.command import toolkit_command

CONFIG = {
    "current_host": "algo-1",
    "hosts": ["algo-1"],
    "network_interface_name": "eth0",
    "current_instance_type": "ml.c5.xlarge",
    "current_group_name": "homogeneousCluster",
    "instance_groups": [],
}


@pytest.mark.parametrize(
    ("enabled", "option"),
    [("sagemaker_mpi_enabled", "-np"), ("sagemaker_torch_distributed_enabled", "--nproc_per_node")],
)
@pytest.mark.parametrize(("given", "processes"), [({}, "1"), ({"sagemaker_mpi_num_of_processes_per_host": "3"}, "3")])
def test_a_machine_without_a_gpu_starts_one_process_unless_told_how_many(
    enabled: str, option: str, given: dict[str, str], processes: str
) -> None:
    hyperparameters = {"sagemaker_program": '"train.py"', enabled: "true", **given}
    started = toolkit_command(
        Host(Path("/host"), Path("/host"), Path("/tmp"), CONFIG, {}, hyperparameters, 7777, "job", "us-east-1")
    )
    assert started is not None
    assert started.argv[started.argv.index(option) + 1] == processes
