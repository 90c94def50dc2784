"""`mpirun` over several bare machines: by a real sshd on each, with keys that are made for this training."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.training.bare.assignment import Assignment
from orchestrator.training.bare.together import ssh
from orchestrator.training.bare.together.place import Place
from orchestrator.training.bare.together.ssh import AGENT, NoSsh, Ssh, needs_ssh
from tests.training.bare.bare_machines import Bare

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REGION = "eu-west-1"
OVER_MPI = {"sweep_start": '{"parallel": "mpi", "command": ["train.py"]}'}
RANKS = """
import os
from mpi4py import MPI
world = MPI.COMM_WORLD
hosts = world.gather(os.environ["SM_CURRENT_HOST"])
total = world.allreduce(world.rank + 1)
if hosts:
    os.write(1, f"ranks on {' '.join(hosts)} add up to {total}\\n".encode())  # at once: mpirun tags each piece
"""
APART = {
    "SWEEP_ADDRESS": "127.0.{index}.1",
    # Two machines on this one must not share files. One rank on each shares no memory either.
    "TMPDIR": "{{folder}}/tmp-{index}",
    "OPAL_PREFIX": sys.prefix,
    "MASTER_PORT": "{{port}}",
}
without_sshd = pytest.mark.skipif(
    shutil.which("sshd", path=f"{os.defpath}:/usr/sbin") is None or os.geteuid() != 0,
    reason="sshd is not installed (apt-get install openssh-server), or tests do not run as root, as user data does",
)


def assignment(**changes: object) -> Assignment:
    made = Assignment(training="r-0-1", region=REGION, output="s3://b/r", hyperparameters=OVER_MPI, instances=2)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "environ", "needed"),
    [
        ({}, {}, True),
        ({"instances": 1}, {}, False),
        ({"hyperparameters": {"sweep_start": '{"parallel": "torchrun"}'}}, {}, False),
        ({"hyperparameters": {}}, {}, False),
        ({"names": ("pod-0", "pod-1")}, {}, False),
        ({}, {AGENT: "/opt/reach"}, False),
    ],
)
def test_ssh_is_needed_where_mpirun_has_to_reach_other_machines(
    changes: dict[str, object], environ: dict[str, str], needed: bool
) -> None:
    assert needs_ssh(assignment(**changes), environ) is needed


@pytest.mark.parametrize("missing", ["sshd", "ssh-keygen"])
def test_an_image_without_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in {"sshd", "ssh", "ssh-keygen"} - {missing}:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(ssh, "_WHERE", "")
    with pytest.raises(NoSsh, match=f"there is no {missing} on this machine, .*OpenSSH.*torchrun"):
        Ssh(Place(0, "127.0.0.1", "lo", {}), {"PATH": str(tmp_path)})


@without_sshd
def test_a_port_that_is_taken_is_told() -> None:
    place = Place(1, "127.0.7.7", "lo", {})
    here = Ssh(place, os.environ)
    word = here.make_key()
    with (
        socket.create_server((place.address, ssh.PORT)),
        pytest.raises(NoSsh, match=r"does not listen at port 7722: .*"),
    ):
        here.open([word, word], ["127.0.7.6", "127.0.7.7"])
    here.close()


@pytest.fixture
def bare(cloud_environment: dict[str, str], tmp_path: Path, name: str) -> Iterator[Bare]:
    bucket = S3(Clients(), REGION, cloud_environment["SWEEP_REGION_BUCKET"].format(region=REGION))
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    own = {
        key: value.replace("{{folder}}", str(tmp_path)).replace("{{port}}", str(port)) for key, value in APART.items()
    }
    for index in range(2):
        (tmp_path / f"tmp-{index}").mkdir()
    made = Bare(bucket, tmp_path, name, cloud_environment, own=own)
    yield made
    made.end()


@without_sshd
@pytest.mark.long
def test_two_machines_run_one_mpi_training_by_ssh(bare: Bare) -> None:
    bare.start(RANKS, machines=2, order={"parallel": "mpi", "processes": 1})
    ended = [bare.outcome(index) for index in (0, 1)]
    assert [one.state for one in ended] == ["done", "done"], bare.log() + bare.log(1)
    assert "ranks on 127.0.0.1 127.0.1.1 add up to 3" in bare.log()
