"""The examples of distributed training on the real launchers: two hosts with two processes each, under AWS's toolkit.

All are started at once, for those under MPI sleep for half a minute at their end. Each learns digits, and every rank
prints a fingerprint of the weights that it ends with.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.localcloud.machines import machine, prerequisites
from orchestrator.localcloud.services.sagemaker.host.host import Host
from orchestrator.localcloud.services.sagemaker.toolkit.command import toolkit_command
from tests.fixtures.cloud import client_of
from tests.localcloud.conftest import TrainingDesk

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloud

EXAMPLES = Path(__file__).parents[3] / "examples" / "training"
MPI = {"sagemaker_mpi_enabled": "true", "sagemaker_mpi_custom_mpi_options": '"-x NCCL_ALGO=ring --NCCL_DEBUG WARN"'}
TORCHRUN = {"sagemaker_torch_distributed_enabled": "true"}
KINDS = {"mpi": MPI, "horovod": MPI, "torchrun": TORCHRUN, "lightning": TORCHRUN}
TWO_BY_TWO = {"InstanceType": "ml.c5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 10}

ONLY_OURS = {
    "mpi": {"--host localhost:4", "--oversubscribe", "-mca btl_vader_backing_directory /tmp"},
    "torchrun": {"--master_addr 127.0.0.1", "python", "-m", "torch.distributed.run"},
}
ONLY_THEIRS = {
    "mpi": {"--host algo-1:2,algo-2:2", "-x LD_LIBRARY_PATH", "-x LD_PRELOAD", "-x PYTHONPATH"},
    "torchrun": {"--master_addr algo-1", "torchrun"},
}
pytestmark = pytest.mark.usefixtures("containers")


@pytest.fixture(scope="module")
def desks(toolkit: Path, toolkit_cloud: LocalCloud) -> dict[str, TrainingDesk]:
    """A training of each kind that can run here, started."""
    files = {file.name: file.read_bytes() for file in EXAMPLES.glob("*.py")}
    kinds = [kind for kind in KINDS if not missing(kind, toolkit)]
    desks = {kind: TrainingDesk(client_of(toolkit_cloud), f"digits-{kind}") for kind in kinds}
    for kind, desk in desks.items():
        asked = {
            **KINDS[kind],
            "sagemaker_program": json.dumps(f"train_{kind}_digits.py"),
            "sagemaker_mpi_num_of_processes_per_host": "2",
            "epochs": "4",
        }
        desk.start(files, hyperparameters=asked, ResourceConfig=TWO_BY_TWO)
    return desks


def missing(kind: str, toolkit: Path) -> str:
    """Return why this kind cannot run here; empty when it can."""
    if KINDS[kind] is MPI and not (prerequisites.SSHD.exists() and machine.IS_ROOT):
        return f"MPI's hosts log in to each other by {prerequisites.SSHD}, which wants root"
    if kind == "horovod" and not list(toolkit.glob("lib/*/site-packages/horovod")):
        return "Horovod is not built: `make horovod` takes four minutes"
    return ""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_four_processes_on_two_hosts_learn_as_one(kind: str, toolkit: Path, desks: dict[str, TrainingDesk]) -> None:
    if reason := missing(kind, toolkit):
        pytest.skip(reason)
    training = desks[kind].end(within_s=240)
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    text = "\n".join(desks[kind].log("algo-1") + desks[kind].log("algo-2"))
    losses = [float(loss) for loss in re.findall(r"epoch=\d+ loss=([0-9.]+)", text)]
    assert len(losses) == 4
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))
    ranks = dict(re.findall(r"rank=(\d) weights=(\w+)", text))
    assert sorted(ranks) == ["0", "1", "2", "3"]
    assert len(set(ranks.values())) == 1
    assert desks[kind].files_in(f"out/digits-{kind}/output/model.tar.gz").keys() & {"model.npz", "model.pt"}


@pytest.mark.parametrize("kind", ["mpi", "torchrun"])
def test_the_imitation_has_the_toolkits_launch_line(kind: str, toolkit: Path, desks: dict[str, TrainingDesk]) -> None:
    """They differ only in what one machine that plays all hosts needs, and leaves out."""
    if reason := missing(kind, toolkit):
        pytest.skip(reason)
    request = desks[kind].end(within_s=240)
    log = desks[kind].log()
    real = log[log.index("Invoking script with the following command:") + 1].split()
    config = json.loads(next(line for line in log if line.startswith("SM_RESOURCE_CONFIG=")).partition("=")[2])
    facts = ({"training": {}}, request["HyperParameters"], 7777, "digits", "us-east-1")
    imitated = toolkit_command(Host(Path("/opt/ml"), Path("/opt/ml"), Path("/tmp"), config, *facts))
    assert imitated
    assert options(imitated.argv) - options(real) == ONLY_OURS[kind]
    assert options(real) - options(imitated.argv) == ONLY_THEIRS[kind]


def options(words: list[str]) -> set[str]:
    """Return the options of a launch line, each with its values. Of a path, the name alone is kept."""
    values = {"-mca": 2, "-x": 1, "--host": 1, "--master_addr": 1, "--master_port": 1}
    short = (re.sub(r"^/\S*/|=/\S*|(?<=python)[0-9.]+$", "", word) for word in words)
    return {" ".join([word, *itertools.islice(short, values.get(word, 0))]) for word in short}
