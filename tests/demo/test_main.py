from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.demo import main
from orchestrator.demo.main import only_environment, read_demo_sweep
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_only_the_local_aws_is_spoken_to_and_then_the_users_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("SWEEP_BUCKET", "production")
    before = dict(os.environ)
    with only_environment({"AWS_ENDPOINT_URL": "http://localhost:1"}):
        ours = {name for name in os.environ if name.startswith(("AWS_", "SWEEP_"))}
        assert ours == {"AWS_ENDPOINT_URL"}
    assert dict(os.environ) == before


def test_torchrun_changes_how_the_same_sweep_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "find_spec", lambda _: True)
    mpi, torchrun = read_demo_sweep("mpi"), read_demo_sweep("torchrun")
    assert (torchrun.train.parallel, torchrun.train.entry_point) == ("torchrun", "train_torch.py")
    assert torchrun.space == mpi.space
    assert torchrun.folder == mpi.folder


def test_without_torch_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"torchrun needs torch, .* \(`make torch` in a checkout, or pip install"):
        read_demo_sweep("torchrun")


@pytest.mark.parametrize("parallel", ["mpi", "torchrun"])
def test_the_training_script_of_each_way_is_there(
    parallel: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(main, "find_spec", lambda _: True)
    monkeypatch.chdir(tmp_path)
    sweep = read_demo_sweep(parallel)
    assert (sweep.folder / sweep.train.source / sweep.train.entry_point).is_file()
