"""EC2 as the local cloud plays it, whose instances run their user data, held to what every platform must do."""

from __future__ import annotations

import json
import re
import time
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.localcloud import LocalCloud
from orchestrator.platforms.conformance.suite import TRAINING, Conformance, Subject
from orchestrator.platforms.registry import make_planning, make_runner
from orchestrator.platforms.source import BARE, pack
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Lane, Place, Purchase
from tests.fixtures.cloud import client_of
from tests.platforms.sweeps import staging, sweep

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.platforms.base import Staging

DDP = """
import argparse
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

options = argparse.ArgumentParser()
options.add_argument("--lr", type=float)
lr = options.parse_known_args()[0].lr
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
x = torch.randn(256, 4)
y = x @ torch.tensor([[1.0], [2.0], [3.0], [4.0]])
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
for epoch in range(4):
    loss = ((model(x[rank::size]) - y[rank::size]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    whole = loss.detach().clone()
    dist.all_reduce(whole)
    if rank == 0:
        print(f"loss={whole.item() / size:.4f}", flush=True)
weights = [f"{weight:.6f}" for weight in model.module.weight.flatten().tolist()]
print(f"rank={rank} weights={','.join(weights)}\\n", end="", flush=True)  # one write: two ranks share the log
dist.barrier()
dist.destroy_process_group()
"""
RANKS = """
import json
import os
from mpi4py import MPI

world = MPI.COMM_WORLD
here = json.load(open("/opt/ml/input/config/resourceconfig.json"))["current_host"]
hosts = world.gather(here if os.environ["SM_CURRENT_HOST"] == here else os.environ["SM_CURRENT_HOST"] + "?")
total = world.allreduce(world.rank + 1)
if hosts:
    os.write(1, f"ranks on {' '.join(hosts)} add up to {total}\\n".encode())
"""
REGION, ELSEWHERE = "eu-west-1", "us-west-2"


@pytest.fixture
def bucket(cloud_environment: dict[str, str], name: str) -> S3:
    bucket = S3(Clients(), REGION, cloud_environment["SWEEP_REGION_BUCKET"].format(region=REGION))
    bucket.put_once(f"{name}/data/rows.txt", b"1,2,3")
    return bucket


def staged(code: str, train: dict[str, Any], bucket: S3, folder: Path, name: str, role: str) -> Staging:
    """Return what `submit` would stage the Region with, once this code lies in its bucket."""
    (folder / "train.py").write_text(code)
    package = pack(folder, ours=BARE)
    bucket.put_once(f"{name}/{package.digest}.tar.gz", package.body)
    return staging(
        sweep({"image": None, **train}, {"instance_types": ["c5.xlarge"]}, tags={"cost centre": "4711"}),
        role=role,
        region=REGION,
        run=name,
        source=bucket.uri(f"{name}/{package.digest}.tar.gz"),
        output=bucket.uri(f"runs/{name}"),
    )


@pytest.fixture
def subject(bucket: S3, cloud_environment: dict[str, str], tmp_path: Path, name: str) -> Subject:
    train = {"metrics": {"loss": "loss=([0-9.]+)"}, "hyperparameters": {"known": 1}}
    lane = Lane("ec2", REGION, "c5.xlarge", Purchase.ON_DEMAND)
    place = Place(lane, bucket.uri(f"{name}/data/"), rate=3600.0)
    return Subject(
        planning=make_planning("ec2", {}),
        connect=lambda: make_runner("ec2", Clients()),
        staging=staged(TRAINING, train, bucket, tmp_path, name, cloud_environment["SWEEP_ROLE"]),
        clients=Clients(),
        place=place,
        elsewhere=replace(place, lane=replace(lane, region=ELSEWHERE)),
        wait=lambda: time.sleep(0.1),
        spot=replace(place, lane=replace(lane, purchase=Purchase.SPOT)),
        pair=replace(place, instances=2),
    )


@pytest.mark.long
class TestEc2(Conformance):
    """The whole suite, against the local cloud."""


def test_two_instances_meet_train_and_leave_their_words_and_their_bill(subject: Subject, client: Any) -> None:
    attempt = subject.start(subject.task(1), subject.pair)
    outcome = subject.outcome(attempt)
    assert (outcome.state, outcome.instances) == (TaskState.DONE, 2), outcome
    assert outcome.started_at is not None
    assert outcome.billable_s >= 60
    assert 0 < outcome.usd <= outcome.billable_s / 3600 * attempt.rate * 2
    assert {"cpu_percent", "memory_percent"} <= outcome.metrics.keys()
    assert 0 < outcome.metrics["memory_percent"] < 100
    lines = dict.fromkeys((stream, line) for stream, line in subject.log(attempt) if "begins" in line)
    assert list(lines) == [
        (f"{attempt.training}/rank-0", "rank 0 begins, loss=0.25"),
        (f"{attempt.training}/rank-1", "rank 1 begins, loss=0.25"),
    ]
    groups = client("ec2", REGION).describe_placement_groups()["PlacementGroups"]
    assert attempt.training not in [group["GroupName"] for group in groups]


def test_what_is_stopped_leaves_nothing_and_stays_stopped(subject: Subject, client: Any) -> None:
    attempt = subject.start(subject.task(2, "hang"))
    subject.outcome(attempt, TaskState.RUNNING)
    subject.connect().stop(attempt)
    outcome = subject.outcome(attempt)
    assert (outcome.state, outcome.cause) == (TaskState.CANCELLED, Cause.STOPPED)
    mine = [{"Name": "tag:Name", "Values": [attempt.training]}]
    states = {
        instance["State"]["Name"]
        for one in client("ec2", REGION).describe_instances(Filters=mine)["Reservations"]
        for instance in one["Instances"]
    }
    assert states <= {"shutting-down", "terminated"}
    assert subject.connect().poll(attempt) == outcome


def test_a_spot_instance_that_is_taken_back_is_interrupted_and_paid_at_its_zone_s_price(
    subject: Subject, cloud: LocalCloud
) -> None:
    attempt = subject.start(subject.task(3, "hang"), subject.spot)
    subject.outcome(attempt, TaskState.RUNNING)
    with cloud.fault("reclaim", attempt.training, seconds=5):
        outcome = subject.outcome(attempt)
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.INTERRUPTED)
    assert "spot" in outcome.reason.lower()
    assert outcome.usd < outcome.billable_s / 3600 * attempt.rate / 100


DEAF = """
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(1)
"""


@pytest.mark.long
@pytest.mark.parametrize("slow_s", [0.0, 90.0])
def test_no_instance_is_paid_for_longer_than_its_envelope_counts(
    subject: Subject, bucket: S3, cloud: LocalCloud, client: Any, tmp_path: Path, name: str, slow_s: float
) -> None:
    """Its script ignores SIGTERM, and hangs for ever; and S3 takes a minute and a half to write anything."""
    made = replace(subject, staging=staged(DEAF, {}, bucket, tmp_path, name, subject.staging.role))
    place = replace(made.place, allowance_s=190)
    attempt = replace(made.start(made.task(8), place, max_runtime_s=3), allowance_s=190)
    fault = cloud.fault("slow", "s3:PutObject", seconds=slow_s) if slow_s else nullcontext()
    with fault:
        filters = [{"Name": "tag:Name", "Values": [attempt.training]}]
        for _ in range(2000):
            shown = client("ec2", REGION).describe_instances(Filters=filters)["Reservations"]
            states = {one["State"]["Name"] for each in shown for one in each["Instances"]}
            if states and not states & {"pending", "running"}:
                break
            time.sleep(0.1)
    outcome = made.outcome(attempt)
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.TIMEOUT), outcome
    assert 60 <= outcome.billable_s <= 3 + 190
    assert outcome.usd <= attempt.rate * (3 + 190) / 3600


@pytest.mark.long
def test_what_ec2_has_forgotten_is_still_known(subject: Subject) -> None:
    """The outcome is in S3, whether EC2 still shows the instance or not."""
    attempt = subject.start(subject.task(4))
    outcome = subject.outcome(attempt)

    class Forgetful(Clients):
        def client(self, service: str, region: str, *, once: bool = False) -> Any:
            assert service != "ec2", "nobody has to ask it"
            return super().client(service, region, once=once)

    assert make_runner("ec2", Forgetful()).poll(attempt) == outcome


@pytest.mark.long
def test_a_role_that_may_not_read_the_code_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The instance can tell nobody in S3: what its console shows is all that is known."""
    with LocalCloud(tmp_path / "cloud", regions=[REGION], iam=True) as cloud:
        for variable, value in cloud.environment.items():
            monkeypatch.setenv(variable, value)
        iam = client_of(cloud)("iam")
        trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        role = iam.create_role(RoleName="poor", AssumeRolePolicyDocument=policy)["Role"]["Arn"]
        iam.create_instance_profile(InstanceProfileName="poor")
        iam.add_role_to_instance_profile(InstanceProfileName="poor", RoleName="poor")
        bucket = S3(Clients(), REGION, cloud.environment["SWEEP_REGION_BUCKET"].format(region=REGION))
        bucket.put_once(f"{name}/data/rows.txt", b"1")
        lane = Lane("ec2", REGION, "c5.xlarge", Purchase.ON_DEMAND)
        place = Place(lane, bucket.uri(f"{name}/data/"), rate=1.0)
        made = Subject(
            planning=make_planning("ec2", {}),
            connect=lambda: make_runner("ec2", Clients()),
            staging=staged("", {}, bucket, tmp_path, name, role),
            clients=Clients(),
            place=place,
            elsewhere=place,
            wait=lambda: time.sleep(0.5),
            looks=1000,
        )
        outcome = made.outcome(made.start(made.task(7)))
    assert outcome.state is TaskState.FAILED
    assert "shut itself down before it began, and could not say why; the last on its console: sweep: " in outcome.reason
    assert ".tar.gz: HTTP Error 403: Forbidden (the role of its instance profile may not do that" in outcome.reason


@pytest.mark.long
def test_two_instances_run_one_mpi_training(
    subject: Subject, bucket: S3, tmp_path: Path, name: str, cloud_environment: dict[str, str]
) -> None:
    """A real mpirun on the first starts the ranks of both, once both are there."""
    train = {"parallel": "mpi", "processes_per_instance": 2}
    role = cloud_environment["SWEEP_ROLE"]
    made = replace(subject, staging=staged(RANKS, train, bucket, tmp_path, name, role), looks=3000)
    attempt = made.start(replace(made.task(6), point={"lr": 0.05}), made.pair)
    outcome = made.outcome(attempt)
    text = "\n".join(line for _, line in made.log(attempt))
    assert outcome.state is TaskState.DONE, text
    assert "ranks on algo-1 algo-1 algo-2 algo-2 add up to 10" in text


@pytest.mark.long
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: `make torch`")
def test_two_instances_train_one_model_with_pytorch_s_own_ddp(
    subject: Subject, bucket: S3, tmp_path: Path, name: str, cloud_environment: dict[str, str]
) -> None:
    """Over gloo: the loss falls, and all ranks end with the same weights."""
    train = {"parallel": "torchrun", "processes_per_instance": 2}
    role = cloud_environment["SWEEP_ROLE"]
    made = replace(subject, staging=staged(DDP, train, bucket, tmp_path, name, role), looks=3000)
    attempt = made.start(replace(made.task(5), point={"lr": 0.05}), made.pair)
    outcome = made.outcome(attempt)
    text = "\n".join(line for _, line in made.log(attempt))
    assert outcome.state is TaskState.DONE, text
    losses = [float(found) for found in re.findall(r"loss=([0-9.]+)", text)]
    weights = re.findall(r"rank=(\d) weights=(\S+)", text)
    assert len(losses) == 4
    assert losses == sorted(losses, reverse=True)
    assert sorted(rank for rank, _ in weights) == ["0", "1", "2", "3"]
    assert len({digest for _, digest in weights}) == 1
