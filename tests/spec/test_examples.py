"""What the examples and the handbook show is what the reader takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.planner.solve import solve
from orchestrator.platforms.registry import platforms
from orchestrator.rules import read_sweep as read
from orchestrator.rules import schema
from tests.fixtures.sweeps import candidate, make_market

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
TOOLKIT = ROOT / ".toolkit"
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
TRAINING = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
HELPERS = (ROOT / "docs" / "training-helpers.md").read_text(encoding="utf-8")
OWN_SCRIPT = (ROOT / "docs" / "bring-your-own-script.md").read_text(encoding="utf-8")
SAGEMAKER = (ROOT / "docs" / "sagemaker.md").read_text(encoding="utf-8")
EC2 = (ROOT / "docs" / "ec2.md").read_text(encoding="utf-8")
EKS = (ROOT / "docs" / "eks.md").read_text(encoding="utf-8")
HANDBOOK = (ROOT / "docs" / "sweep-file.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_sweep(path: Path) -> None:
    assert len(read(path).points) >= 4


PARTS = [
    part
    for page in (HANDBOOK, SAGEMAKER, EC2, EKS, TRAINING, HELPERS, OWN_SCRIPT)
    for part in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
]


@pytest.mark.parametrize("text", PARTS)
def test_a_whole_file_or_part_in_the_handbook_is_understood(tmp_path: Path, text: str) -> None:
    """Parts are put into a small whole file, replacing what it says of the same key."""
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "train.py").touch()
    rest = {
        "name": "name: part\n",
        "train": "train: {source: training, entry_point: train.py, image: x, metrics: {loss: 'loss=(.*)'}}\n",
        "where": "where: {instance_types: [ml.g5.xlarge]}\n",
    }
    path = tmp_path / "sweep.yaml"
    path.write_text(
        text + "".join(line for key, line in rest.items() if not re.search(rf"^{key}:", text, re.MULTILINE))
    )
    read(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_planned(path: Path) -> None:
    sweep = read(path)
    region = (sweep.where.regions or ["us-east-1"])[0]
    types = sweep.where.instance_types
    lanes = [candidate(region=region, instance_type=name, usd_per_hour=1.0 + n) for n, name in enumerate(types)]
    assert solve(sweep, make_market(*lanes)).tasks == len(sweep.points)


PRICES = {"sagemaker": ("ml.g5.12xlarge", 7.1), "ec2": ("g5.12xlarge", 5.7), "eks": ("g5.12xlarge", 5.7)}


@pytest.mark.parametrize("cheapest", PRICES)
def test_the_example_for_three_platforms_goes_where_it_is_cheapest(cheapest: str) -> None:
    sweep = read(ROOT / "examples" / "three-platforms.yaml")
    assert set(sweep.where.platforms) == set(PRICES) == set(platforms())
    offers = [
        candidate(platform=name, instance_type=kind, usd_per_hour=usd / 2 if name == cheapest else usd, slots=64.0)
        for name, (kind, usd) in PRICES.items()
    ]
    plan = solve(sweep, make_market(*offers))
    assert {share.places[0].lane.platform for share in plan.shares} == {cheapest}
    assert {place.lane.platform for share in plan.shares for place in share.places} == set(PRICES)


@pytest.mark.parametrize(
    ("name", "parallel"),
    [
        ("single", "single"),
        ("mpi", "mpi"),
        ("horovod", "mpi"),
        ("torchrun", "torchrun"),
        ("lightning", "torchrun"),
        ("smddp", "smddp"),
    ],
)
def test_each_way_of_starting_processes_has_an_example_whose_script_takes_its_parameters(
    name: str, parallel: str
) -> None:
    sweep = read(ROOT / "examples" / f"{name}.yaml")
    assert sweep.train.parallel == parallel
    script = (ROOT / "examples" / "training" / sweep.train.entry_point).read_text()
    if "import main, options" in script:
        script = (ROOT / "examples" / "training" / "train_torchrun_digits.py").read_text()
    assert [axis for axis in sweep.space if f'"--{axis}"' not in script] == []


def keys() -> Iterator[str]:
    body = schema()
    for definition in (body, *body["$defs"].values()):
        yield from definition.get("properties", {})


def test_the_handbook_tells_of_every_key() -> None:
    assert [key for key in keys() if f"`{key}`" not in HANDBOOK + SAGEMAKER + EC2 + EKS] == []


def test_the_example_s_training_learns_from_the_local_cloud_s_campaigns(tmp_path: Path) -> None:
    (tmp_path / "drive.csv").write_text("seconds,speed,steering\n0,40,-2\n1,41,-1\n2,42,0\n3,43,1\n")
    command = [sys.executable, str(ROOT / "examples" / "training" / "train.py"), "--lr", "0.1"]
    environment = {"SM_CHANNEL_TRAINING": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    losses = [float(text) for text in re.findall(r"loss=([0-9.]+)", done.stdout)]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)


def test_the_example_s_training_learns_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    environment = {"SM_MODEL_DIR": str(tmp_path / "model"), "SM_CHANNEL_TRAINING": str(tmp_path / "none")}
    environment |= {"SAGEMAKER_BASE_DIR": str(tmp_path)}
    pattern = re.compile(read(ROOT / "examples" / "grid.yaml").train.metrics["loss"])

    def losses(epochs: int) -> list[float]:
        command = [sys.executable, str(ROOT / "examples" / "training" / "train.py"), "--lr", "0.1", "--unused", "1"]
        options = ["--epochs", str(epochs), "--shuffle", "True"]
        done = subprocess.run([*command, *options], env=environment, capture_output=True, text=True, check=True)
        return [float(match[1]) for match in map(pattern.search, done.stdout.splitlines()) if match]

    first, second = losses(5), losses(8)
    assert len(first) == 5
    assert len(second) == 3
    assert first[0] > first[-1] > second[-1]
    assert (tmp_path / "model" / "model.json").exists()


STAND_IN = """
import torch.distributed

def over_gloo(backend, start=torch.distributed.init_process_group):
    assert backend == "smddp"
    start("gloo")

torch.distributed.init_process_group = over_gloo
"""


@pytest.mark.skipif(not (TOOLKIT / ".installed").exists(), reason="there is no scikit-learn ('make toolkit')")
def test_the_smddp_example_trains_over_a_stand_in_for_aws_s_library(tmp_path: Path) -> None:
    library = tmp_path / "smdistributed" / "dataparallel" / "torch"
    library.mkdir(parents=True)
    (library / "torch_smddp.py").write_text(STAND_IN)
    script = ROOT / "examples" / "training" / "train_smddp_digits.py"
    ranks = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    environment = {**ranks, "PYTHONPATH": str(tmp_path), "SM_MODEL_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [TOOLKIT / "bin" / "python", script, "--epochs", "3"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r"loss=([0-9.]+)", done.stdout)]
    assert len(losses) == 3
    assert losses == sorted(losses, reverse=True)
    assert (tmp_path / "model.pt").exists()
