"""SageMaker as the local cloud plays it, with real processes as trainings, held to what every platform must do."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.errors import CloudError, InvalidRequest, QuotaExceeded, Unreachable, UsageError
from orchestrator.platforms.conformance import Conformance, Subject
from orchestrator.platforms.registry import make_platform
from orchestrator.platforms.sagemaker.job import SageMaker
from orchestrator.platforms.sagemaker.stage import Site, stage
from orchestrator.platforms.source import pack
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from tests.platforms.sweeps import sweep

if TYPE_CHECKING:
    from pathlib import Path

REGION, ELSEWHERE = "eu-west-1", "us-west-2"
TRAIN = """
import argparse, sys, time
options = argparse.ArgumentParser()
options.add_argument("--then")
options.add_argument("--another")
then = options.parse_known_args()[0].then
print("loss=0.25", flush=True)
if then == "hang":
    time.sleep(600)
if then == "fail":
    raise ValueError("the loss is not a number")
"""


@pytest.fixture
def subject(cloud_environment: dict[str, str], tmp_path: Path, name: str) -> Subject:
    (tmp_path / "train.py").write_text(TRAIN)
    clients, buckets = Clients(), cloud_environment["SWEEP_REGION_BUCKET"]
    bucket = S3(clients, REGION, buckets.format(region=REGION))
    bucket.put_once(f"{name}/data.txt", b"1,2,3")
    site = Site(buckets, cloud_environment["SWEEP_ROLE"], "ada")
    metrics = {"metrics": {"loss": "loss=([0-9.]+)"}, "hyperparameters": {"known": 1}}
    template = stage(sweep(metrics), pack(tmp_path), REGION, name, site, bucket)
    place = Place(Lane("sagemaker", REGION, "ml.c5.xlarge", Purchase.ON_DEMAND), bucket.uri(f"{name}/"), rate=3600.0)
    task = Task(10, "key", "paris@1", {"then": "end"}, (place,), Limits(3600))
    return Subject(
        connect=lambda: make_platform("sagemaker", Clients()),
        template=template,
        place=place,
        elsewhere=replace(place, lane=replace(place.lane, region=ELSEWHERE)),
        succeeds=task,
        fails=replace(task, number=20, point={"then": "fail"}),
        hangs=replace(task, number=30, point={"then": "hang"}),
        wait=lambda: time.sleep(0.1),
    )


class TestSageMaker(Conformance):
    """The whole suite, against the local cloud."""


def test_a_failures_reason_is_the_trainings_own_last_words(subject: Subject) -> None:
    subject.connect().start(subject.request(subject.fails))
    assert "the loss is not a number" in subject.outcome(subject.fails).reason


def test_metrics_come_with_the_outcome(subject: Subject) -> None:
    subject.connect().start(subject.request(subject.succeeds))
    assert subject.outcome(subject.succeeds).metrics == {"loss": 0.25}


RANKS = """
import os
from mpi4py import MPI
modes = MPI.COMM_WORLD.gather(os.environ["MODE"])
if modes:
    print(f"loss={modes.count('fast')}", flush=True)
"""


def test_auto_starts_a_rank_on_each_instance_without_gpus_and_the_environment_reaches_them_all(
    subject: Subject, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(RANKS)
    train = {"parallel": "mpi", "processes_per_instance": "auto", "environment": {"MODE": "fast"}}
    asked = sweep({**train, "instances": 2, "metrics": {"loss": "loss=([0-9.]+)"}})
    site = Site(subject.place.s3_uri.split("/")[2], subject.template.request["RoleArn"], "ada")
    package, bucket = pack(tmp_path), S3(Clients(), REGION, site.bucket)
    made = replace(subject, template=stage(asked, package, REGION, subject.template.run, site, bucket))
    task = replace(subject.succeeds, number=40, instances=2)
    made.connect().start(made.request(task))
    assert made.outcome(task).metrics == {"loss": 2.0}


def test_missing_data_is_refused_at_once(subject: Subject) -> None:
    nowhere = replace(subject.place, s3_uri=subject.place.s3_uri.replace("s3://", "s3://no-such-bucket-"))
    request = subject.connect().request(subject.template, subject.succeeds, nowhere, 7, 3600)
    with pytest.raises(InvalidRequest, match=r"^eu-west-1 CreateTrainingJob: could not start the training .*-10-7: "):
        subject.connect().start(request)


def test_a_cloud_that_is_gone_is_unreachable_and_not_not_found(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    with pytest.raises(Unreachable):
        subject.connect().poll(1, subject.handle(subject.succeeds))


def test_an_unknown_platform_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no platform 'sagemkaer' \(did you mean 'sagemaker'\?\)"):
        make_platform("sagemkaer", Clients())


class Refusing:
    """Clients whose every call is refused with this code."""

    def __init__(self, *, code: str, message: str = "") -> None:
        self.error = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": 400}}

    def client(self, *_: str) -> Refusing:
        return self

    def __getattr__(self, operation: str) -> object:
        from botocore.exceptions import ClientError

        def refuse(**_: object) -> None:
            raise ClientError(self.error, operation)  # type: ignore[arg-type]

        return refuse


def test_a_name_in_use_that_cannot_be_found_is_tried_again(subject: Subject) -> None:
    class Undecided(Refusing):
        def describe_training_job(self, **_: object) -> None:
            Refusing(code="ValidationException", message="Requested resource not found.").describe()  # type: ignore[operator]

    with pytest.raises(Unreachable, match="can be neither started nor found"):
        SageMaker(Undecided(code="ResourceInUse")).start(subject.request(subject.succeeds))  # type: ignore[arg-type]


def test_a_training_that_may_not_be_looked_at_is_not_taken_for_one_never_started(subject: Subject) -> None:
    class Hidden(Refusing):
        def describe_training_job(self, **_: object) -> None:
            Refusing(code="AccessDeniedException", message="no sagemaker:DescribeTrainingJob").describe()  # type: ignore[operator]

    with pytest.raises(CloudError, match=r"is there, but not to be looked at: .*no sagemaker:DescribeTrainingJob"):
        SageMaker(Hidden(code="ResourceInUse")).start(subject.request(subject.succeeds))  # type: ignore[arg-type]


def test_a_quota_of_nothing_is_a_quota_refusal(subject: Subject) -> None:
    clients = Refusing(code="ResourceLimitExceeded", message="The account-level service limit is 0 Instances")
    with pytest.raises(QuotaExceeded, match="account-level service limit"):
        SageMaker(clients).start(subject.request(subject.succeeds))  # type: ignore[arg-type]
