"""The demo's training scripts, run as SageMaker's containers run them: by mpirun and by torchrun."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from orchestrator.demo.driving import CAMPAIGNS
from orchestrator.demo.sample_data import recordings

SCRIPTS = Path(__file__).parents[2] / "orchestrator" / "demo" / "training"
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boston-snow")
    campaign = next(campaign for campaign in CAMPAIGNS if campaign.name == "boston-snow")
    for name, body in recordings(campaign).items():
        (folder / name).write_bytes(body)
    return folder


def mpirun(processes: int) -> list[str]:
    options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(processes)]
    return [str(BIN / "mpirun"), *options, sys.executable, "-m", "mpi4py", str(SCRIPTS / "train_mpi.py")]


def torchrun(processes: int) -> list[str]:
    return [str(BIN / "torchrun"), "--standalone", f"--nproc_per_node={processes}", str(SCRIPTS / "train_torch.py")]


def losses(
    start: list[str], data: Path, model: Path, *, rate: float = 0.03, batch: int = 64, epochs: int
) -> list[float]:
    """The validation loss after each epoch, as it was printed."""
    options = ["--learning_rate", str(rate), "--batch_size", str(batch), "--epochs", str(epochs)]
    environment = {"SM_CHANNEL_TRAINING": str(data), "SM_MODEL_DIR": str(model), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*start, *options], env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return [
        float(value) for value in re.findall(r"^\[sweep\] step=\d+ loss=\S+ val_loss=(\S+)$", done.stdout, re.MULTILINE)
    ]


@dataclass(frozen=True)
class Learned:
    losses: list[float]
    model: Path


@pytest.fixture(scope="module")
def learned(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """A training by two MPI processes."""
    model = tmp_path_factory.mktemp("model")
    return Learned(losses(mpirun(2), data, model, rate=0.1, batch=128, epochs=8), model)


def test_two_mpi_processes_learn_what_no_linear_model_could(learned: Learned) -> None:
    assert len(learned.losses) == 8
    assert learned.losses[-1] < 0.02 < learned.losses[0]
    assert list(np.load(learned.model / "model.npz"))


def test_two_mpi_processes_take_the_same_steps_as_one(learned: Learned, data: Path, tmp_path: Path) -> None:
    """The gradients of all ranks are summed: how many share the work changes nothing but rounding."""
    alone = losses(mpirun(1), data, tmp_path, rate=0.1, batch=128, epochs=2)
    assert learned.losses[:2] == pytest.approx(alone, rel=1e-2)


def test_learning_rate_and_batch_size_matter(learned: Learned, data: Path, tmp_path: Path) -> None:
    timid = losses(mpirun(2), data, tmp_path, rate=0.01, batch=128, epochs=3)
    assert learned.losses[2] < timid[-1] / 2


@pytest.mark.long
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: `make torch`")
def test_two_processes_of_ddp_learn_it_too(data: Path, tmp_path: Path) -> None:
    found = losses(torchrun(2), data, tmp_path, epochs=6)
    assert found[-1] < 0.02 < found[0]
    assert (tmp_path / "model.pt").stat().st_size
