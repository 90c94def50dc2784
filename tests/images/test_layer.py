"""A layer has the same bytes from the same files, and runs a launcher without anything else."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.images.layer import HOME, digest_of, make_layer
from orchestrator.images.packages import installed_files
from tests.images.parts import FILES

if TYPE_CHECKING:
    from pathlib import Path

names = st.text("abc", min_size=1, max_size=3)
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".txt")


def unpacked(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}  # type: ignore[union-attr]


@given(st.dictionaries(paths, st.binary(max_size=20), min_size=1, max_size=5))
def test_the_order_of_files_makes_no_difference_and_every_file_is_there(files: dict[str, bytes]) -> None:
    layer = make_layer(files, compiled=False)
    assert make_layer(dict(reversed(files.items())), compiled=False) == layer
    assert unpacked(layer.data) == {f"{HOME}/{name}": data for name, data in files.items()}
    assert (layer.digest, layer.diff_id) == (digest_of(layer.data), digest_of(gzip.decompress(layer.data)))


def test_bytecode_is_the_same_each_time_and_knows_where_it_will_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_layer(FILES, compiled=True)
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    assert make_layer(FILES, compiled=True) == first
    (compiled,) = [data for name, data in unpacked(first.data).items() if name.endswith(".pyc")]
    assert f"/{HOME}/orchestrator/launcher.py".encode() in compiled


@pytest.mark.long
def test_a_launcher_begins_with_nothing_but_the_layer_of_what_is_installed_here(tmp_path: Path) -> None:
    layer = make_layer(installed_files(), compiled=True)
    assert make_layer(installed_files(), compiled=True).digest == layer.digest
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer.data))) as tar:
        tar.extractall(tmp_path, filter="data")
    home = tmp_path / HOME
    look = "import boto3, orchestrator.launcher.__main__; from importlib.metadata import entry_points as found; "
    command = [sys.executable, "-S", "-c", f"{look}print(boto3.__file__, len(found(group='sweep.runners')))"]
    done = subprocess.run(command, env={"PYTHONPATH": str(home)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    where, platforms = done.stdout.split()
    assert where.startswith(str(home))
    assert int(platforms) >= 1
