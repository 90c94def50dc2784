"""What the parts of EC2 and EKS wrote of a run is still read: a run outlives the version that it was begun with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.platforms.ec2.sent.request import make_request as make_for_ec2
from orchestrator.platforms.ec2.watching.left import Launched, Left
from orchestrator.platforms.eks.kept import Kept
from orchestrator.platforms.eks.sent.request import make_request as make_for_eks
from orchestrator.training.bare.telling.outcome import read_machine_outcome
from orchestrator.wire.names import S3Uri
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from orchestrator.wire.template import Template
from tests.launcher.fakes import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.platforms.base import Request

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"
FOLDER = "s3://team-eu-west-1/runs/nightly/trainings/nightly-912-1"


def text(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def requested(platform: str, make_request: Callable[..., Request]) -> dict[str, Any]:
    template = Template.from_json(json.loads(text(f"template-{platform}.json")))
    lane = Lane(platform, "eu-west-1", "g5.xlarge", Purchase.SPOT)
    place = Place(lane, "s3://team-eu-west-1/paris/v1/", rate=1.5)
    task = Task(912, "c0ffee", "paris@v1", {"lr": 0.1}, (place,), Limits(3600))
    body: dict[str, Any] = make_request(template, task, place, 2, 3600).body
    assert body["assignment"]["hyperparameters"]["lr"] == "0.1"
    assert body["assignment"]["sources"] == "s3://team-eu-west-1/sources/9daf640d/sourcedir.tar.gz"
    return body


def test_a_template_of_ec2_is_still_made_into_requests() -> None:
    run = requested("ec2", make_for_ec2)["run"]
    assert (run["ImageId"], run["IamInstanceProfile"]) == ("ami-0d27e0fb3bac4d724", {"Name": "sweep-training"})
    (interface,) = run["NetworkInterfaces"] if "NetworkInterfaces" in run else ({"SubnetId": run["SubnetId"]},)
    assert interface["SubnetId"] == "subnet-1"


def test_a_template_of_eks_is_still_made_into_requests() -> None:
    body = requested("eks", make_for_eks)
    assert (body["claim"]["cluster"], body["claim"]["namespace"]) == ("prod", "sweep")
    (container,) = body["job"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "111122223333.dkr.ecr.eu-west-1.amazonaws.com/train@sha256:00"


def test_what_a_machine_said_last_is_read() -> None:
    told = read_machine_outcome(text("machine-outcome.json"))
    assert (told.index, told.state, told.started_at, told.ended_at) == (0, "done", 1795382309.5, 1795382331.5)
    assert (told.facts["zone"], told.used) == ("eu-west-1a", {"cpu_percent": 100.0})


@pytest.mark.parametrize("platform", ["ec2", "eks"])
def test_what_was_remembered_of_an_attempt_is_read(platform: str) -> None:
    bucket: Any = Bucket()
    folder = S3Uri.parse(FOLDER)
    names = {
        "ec2": {"launched.json": "ec2-launched.json", "ended.json": "ec2-ended.json"},
        "eks": {"claim-eu-west-1.json": "eks-claim.json", "ended-eu-west-1.json": "eks-ended.json"},
    }
    for name, golden in names[platform].items():
        bucket.put_once(f"{folder.key}/{name}", text(golden))
    if platform == "ec2":
        left = object.__new__(Left)
        left._folder, left._uri, left._bucket = FOLDER, folder, bucket
        ended, launched = left.ended(), left.launched()
        assert launched == Launched(("i-02a3c075cf2e750e7",), 1795382306.5, "eu-west-1")
    else:
        kept = object.__new__(Kept)
        kept._folder, kept._region, kept._s3 = FOLDER, "eu-west-1", bucket
        ended, claim = kept.end(), kept.claim()
        assert claim is not None
        assert (claim["cluster"], claim["hash"]) == ("prod", "1483a92aa1a1")
    assert ended is not None
    assert (str(ended.lane), ended.state, ended.usd) == (f"{platform}/eu-west-1/g5.xlarge/spot", TaskState.DONE, 0.125)
