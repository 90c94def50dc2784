"""Trainings whose pods come and go: real PyTorch DDP goes on where it was, and its attempt is the same."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.platforms.eks.kube.api import PODS
from orchestrator.platforms.eks.kube.clusters import open_cluster
from orchestrator.platforms.eks.sent.words import JOB_NAME
from orchestrator.platforms.registry import make_planning
from orchestrator.training.starter.machine import ORDER, decode
from orchestrator.wire.result import Cause, TaskState
from tests.platforms.eks.conftest import REGION, staged
from tests.platforms.eks.made import place, request
from tests.platforms.eks.test_manifests import problems
from tests.platforms.sweeps import sweep

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.aws.s3 import S3
    from orchestrator.localcloud import LocalCloud
    from orchestrator.platforms.conformance.suite import Subject
    from orchestrator.wire.result import Attempt

SCRIPT = """
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from orchestrator.training.process import write_line

STEPS = 60
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
file = Path("/opt/ml/checkpoints/state.pt")
torch.manual_seed(7)
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
# The first rank's checkpoint counts: others may have an older one.
known = [torch.load(file) if rank == 0 and file.exists() else None]
dist.broadcast_object_list(known)
step = 0
if known[0]:
    step = known[0]["step"]
    model.load_state_dict(known[0]["model"])
write_line(f"rank {rank} of {world} goes on at step {step}")
x = torch.randn(64, 4)
y = x.sum(dim=1, keepdim=True)
while step < STEPS or world < 2:  # whoever is left alone goes on until the other is back
    loss = torch.nn.functional.mse_loss(model(x[rank::world]), y[rank::world])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if rank == 0:
        draft = file.with_suffix(".new")
        torch.save({"step": step, "model": model.state_dict()}, draft)
        draft.replace(file)
    write_line(f"rank {rank} of {world} at step {step}, loss={loss.item():.4f}")
    time.sleep(0.1)
dist.barrier()
write_line(f"rank {rank} of {world} is done, loss={loss.item():.4f}")
"""
PAIR = {"min": 1, "max": 2}


def test_an_elastic_job_brings_lost_pods_back_and_ends_with_its_first() -> None:
    body = request(place(instances=4), least=2).body
    spec = body["job"]["spec"]
    assert problems(body["job"]) == []
    assert (spec["completions"], spec["parallelism"]) == (4, 4)
    assert spec["podFailurePolicy"]["rules"][0]["action"] == "Ignore"
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assignment = body["assignment"]
    assert assignment["names"] == [f"nightly-7-2-{n}.t-nightly-7-2" for n in range(4)]
    assert (assignment["least"], decode(assignment["hyperparameters"][ORDER])["least"]) == (2, 2)


def test_fewer_instances_than_there_may_be_are_what_there_is_and_a_plan_says_so() -> None:
    """`sweep scale` trains on 1, 2, 3 of 4: the same sweep file is meant."""
    train = {"parallel": "torchrun", "instances": 2, "checkpoints": {}}
    where = {"platforms": ["eks"], "instance_types": ["c5.xlarge"]}
    asked = sweep(train, where, platforms={"eks": {"elastic": {"min": 1, "max": 4}}})
    planning = make_planning("eks", {"cluster": "prod"})
    assert list(planning.check(asked)) == []
    (caution,) = planning.cautions(asked)
    assert caution == "there are as many pods as instances are planned for, 2, not elastic.max, 4"


@pytest.mark.parametrize(
    ("train", "elastic", "says"),
    [
        ({"parallel": "mpi", "instances": 2}, PAIR, "mpi cannot go on with other processes"),
        ({"parallel": "torchrun", "instances": [1, 2]}, {"min": 2, "max": 2}, "2 pods at least, and 1 instances"),
        ({"parallel": "torchrun", "instances": 3}, PAIR, "there are to be 2 pods at most, and 3 instances"),
        ({"parallel": "torchrun", "instances": 2}, {"min": 3, "max": 2}, "3 pods at least are more than 2"),
    ],
)
def test_an_elastic_training_that_cannot_be_is_complained_of(
    train: dict[str, Any], elastic: dict[str, int], says: str
) -> None:
    asked = sweep(
        train, {"platforms": ["eks"], "instance_types": ["c5.xlarge"]}, platforms={"eks": {"elastic": elastic}}
    )
    (complaint,) = make_planning("eks", {"cluster": "prod"}).check(asked)
    assert says in complaint.message


@pytest.mark.long
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: `make torch`")
@pytest.mark.parametrize("lost", [0, 1])  # the first is where all meet
def test_a_lost_pod_costs_a_restart_and_not_the_attempt(
    cloud: LocalCloud, subject: Subject, bucket: S3, tmp_path: Path, name: str, lost: int
) -> None:
    train = {"parallel": "torchrun", "instances": 2, "processes_per_instance": 1, "checkpoints": {"every": "1m"}}
    staging = staged(SCRIPT, train, bucket, tmp_path, name, platforms={"eks": {"elastic": PAIR}})
    made = replace(subject, staging=staging, looks=6000)
    assert list(made.planning.check(staging.sweep)) == []
    attempt = made.start(made.task(1), made.pair)
    wait_for(made, attempt, "rank 0 of 2 at step 5,")
    api = open_cluster(Clients(), REGION, "sweep")
    chosen = {"labelSelector": f"{JOB_NAME}={attempt.training}"}
    chosen["labelSelector"] += f",batch.kubernetes.io/job-completion-index={lost}"
    (pod,) = api.list(PODS, "sweep", **chosen)
    cloud.steering.add("crash", pod["metadata"]["name"])
    outcome = made.outcome(attempt)
    log = [line for _, line in made.log(attempt)]
    assert outcome.state is TaskState.DONE, "\n".join([outcome.reason, *log[-100:]])
    again = [line for line in log if "goes on at step" in line]
    steps = [int(line.rpartition(" ")[2]) for line in again]
    assert steps.count(0) <= 2, again  # both began once
    assert any("of 2 goes on" in line and step >= 5 for line, step in zip(again, steps, strict=True)), again
    assert sum("of 2 is done" in line for line in log) == 2
    last = [float(line.rpartition("=")[2]) for line in log if "loss=" in line]
    assert last[-1] < last[0] / 2


FAILS = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for step in range(5):
    if step == 3 and dist.get_rank() == 1:
        raise KeyError("label")
    dist.all_reduce(torch.ones(1))
"""


@pytest.mark.long
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: `make torch`")
def test_a_script_that_fails_by_itself_fails_the_attempt_with_its_own_error(
    subject: Subject, bucket: S3, tmp_path: Path, name: str
) -> None:
    train = {"parallel": "torchrun", "instances": 2, "processes_per_instance": 1}
    staging = staged(FAILS, train, bucket, tmp_path, name, platforms={"eks": {"elastic": PAIR}})
    made = replace(subject, staging=staging, looks=6000)
    attempt = made.start(made.task(1), made.pair)
    outcome = made.outcome(attempt)
    log = [line for _, line in made.log(attempt)]
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.TASK)
    assert "ErrorMessage \"KeyError: 'label'\"" in outcome.reason, "\n".join(log[-100:])
    assert not any("it begins again" in line for line in log)


def wait_for(subject: Subject, attempt: Attempt, text: str) -> None:
    for _ in range(subject.looks):
        if any(text in line for _, line in subject.log(attempt)):
            return
        subject.wait()
    raise AssertionError(f"it never said {text}: {subject.log(attempt)[-40:]}")
