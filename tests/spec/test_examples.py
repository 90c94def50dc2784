"""What the examples and the handbook show is what the reader takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.spec.reader import read
from orchestrator.spec.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
HANDBOOK = (ROOT / "docs" / "sweep-file.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_sweep(path: Path) -> None:
    assert len(read(path).points) >= 4


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", HANDBOOK, re.DOTALL))
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


def keys() -> Iterator[str]:
    body = schema()
    for definition in (body, *body["$defs"].values()):
        yield from definition.get("properties", {})


def test_the_handbook_tells_of_every_key() -> None:
    assert [key for key in keys() if f"`{key}`" not in HANDBOOK] == []


def test_the_example_s_training_learns_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    environment = {"SM_MODEL_DIR": str(tmp_path / "model"), "SM_CHANNEL_TRAINING": str(tmp_path / "none")}
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
