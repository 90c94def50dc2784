"""SageMaker as the local cloud plays it, with real processes as trainings, held to what every platform must do."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.errors import CloudError, InvalidRequest, QuotaExceeded, Unreachable
from orchestrator.platforms.conformance.suite import TRAINING, Conformance, Subject
from orchestrator.platforms.registry import make_operating, make_planning, make_runner
from orchestrator.platforms.sagemaker.runner import SageMakerRunner
from orchestrator.platforms.source import pack
from orchestrator.wire.task import Lane, Place, Purchase
from tests.platforms.sweeps import staging, sweep

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.platforms.base import Staging

REGION, ELSEWHERE = "eu-west-1", "us-west-2"


@pytest.fixture
def bucket(cloud_environment: dict[str, str], name: str) -> S3:
    bucket = S3(Clients(), REGION, cloud_environment["SWEEP_REGION_BUCKET"].format(region=REGION))
    bucket.put_once(f"{name}/data/rows.txt", b"1,2,3")
    return bucket


def staged(code: str, train: dict[str, Any], bucket: S3, folder: Path, name: str) -> Staging:
    """Return what `submit` would stage the Region with, once this code lies in its bucket."""
    (folder / "train.py").write_text(code)
    package = pack(folder)
    bucket.put_once(f"{name}/{package.digest}.tar.gz", package.body)
    return staging(
        sweep(train, {"instance_types": ["ml.c5.xlarge"]}, tags={"cost centre": "4711"}),
        region=REGION,
        run=name,
        source=bucket.uri(f"{name}/{package.digest}.tar.gz"),
        output=bucket.uri(f"runs/{name}"),
    )


@pytest.fixture
def subject(bucket: S3, cloud_environment: dict[str, str], tmp_path: Path, name: str) -> Subject:
    train = {"metrics": {"loss": "loss=([0-9.]+)"}, "hyperparameters": {"known": 1}}
    lane = Lane("sagemaker", REGION, "ml.c5.xlarge", Purchase.ON_DEMAND)
    place = Place(lane, bucket.uri(f"{name}/data/"), rate=3600.0)
    return Subject(
        planning=make_planning("sagemaker", {"role": cloud_environment["SWEEP_ROLE"]}),
        connect=lambda: make_runner("sagemaker", Clients()),
        staging=staged(TRAINING, train, bucket, tmp_path, name),
        clients=Clients(),
        place=place,
        elsewhere=replace(place, lane=replace(lane, region=ELSEWHERE)),
        wait=lambda: time.sleep(0.1),
        spot=replace(place, lane=replace(lane, purchase=Purchase.SPOT)),
        pair=replace(place, instances=2),
    )


class TestSageMaker(Conformance):
    """The whole suite, against the local cloud."""


def test_a_failures_reason_is_the_trainings_own_last_words(subject: Subject) -> None:
    assert "the loss is not a number" in subject.outcome(subject.start(subject.task(1, "fail"))).reason


def test_the_bill_is_billable_time_at_its_rate_and_metrics_come_with_it(subject: Subject) -> None:
    outcome = subject.outcome(subject.start(subject.task(1)))
    assert outcome.usd == pytest.approx(outcome.billable_s / 3600 * subject.place.rate)
    assert outcome.usd > 0
    assert outcome.metrics == {"loss": 0.25}


def test_what_has_ended_since_a_moment_is_told_a_call_at_a_time(subject: Subject) -> None:
    attempt = subject.start(subject.task(1))
    ended_at = subject.outcome(attempt).ended_at
    assert ended_at is not None
    runner, run = subject.connect(), subject.template.run
    assert list(runner.ended(REGION, run, ended_at - 60)) == [{attempt.training}]
    assert not any(runner.ended(REGION, run[:-1], ended_at - 60))
    assert not any(runner.ended(REGION, run, ended_at + 3600))
    assert not any(runner.ended(ELSEWHERE, run, 0.0))


RANKS = """
import os
from mpi4py import MPI
modes = MPI.COMM_WORLD.gather(os.environ["MODE"])
if modes:
    print(f"loss={modes.count('fast')}", flush=True)
"""


def test_auto_starts_a_rank_on_each_instance_without_gpus_and_the_environment_reaches_them_all(
    subject: Subject, bucket: S3, tmp_path: Path, name: str
) -> None:
    train = {"parallel": "mpi", "processes_per_instance": "auto", "environment": {"MODE": "fast"}}
    asked = staged(RANKS, {**train, "metrics": {"loss": "loss=([0-9.]+)"}}, bucket, tmp_path, name)
    made = replace(subject, staging=asked)
    assert made.outcome(made.start(made.task(40), made.pair)).metrics == {"loss": 2.0}


def test_missing_data_is_refused_at_once(subject: Subject) -> None:
    nowhere = replace(subject.place, s3_uri=subject.place.s3_uri.replace("s3://", "s3://no-such-bucket-"))
    request = subject.request(subject.task(10), nowhere, 7)
    with pytest.raises(InvalidRequest, match=r"^eu-west-1 CreateTrainingJob: could not start the training .*-10-7: "):
        subject.connect().start(request)


def test_a_cloud_that_is_gone_is_unreachable_and_not_not_found(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = subject.attempt(subject.task(10))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    with pytest.raises(Unreachable):
        subject.connect().poll(attempt)


class Refusing:
    """Clients whose every call is refused with this code."""

    def __init__(self, *, code: str, message: str = "") -> None:
        self.error = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": 400}}

    def client(self, *_: str, once: bool = False) -> Refusing:  # noqa: ARG002
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
        SageMakerRunner(Undecided(code="ResourceInUse")).start(subject.request(subject.task(10)))  # type: ignore[arg-type]


def test_a_training_that_may_not_be_looked_at_is_not_taken_for_one_never_started(subject: Subject) -> None:
    class Hidden(Refusing):
        def describe_training_job(self, **_: object) -> None:
            Refusing(code="AccessDeniedException", message="no sagemaker:DescribeTrainingJob").describe()  # type: ignore[operator]

    with pytest.raises(CloudError, match=r"is there, but not to be looked at: .*no sagemaker:DescribeTrainingJob"):
        SageMakerRunner(Hidden(code="ResourceInUse")).start(subject.request(subject.task(10)))  # type: ignore[arg-type]


def test_a_quota_of_nothing_is_a_quota_refusal(subject: Subject) -> None:
    clients = Refusing(code="ResourceLimitExceeded", message="The account-level service limit is 0 Instances")
    with pytest.raises(QuotaExceeded, match="account-level service limit"):
        SageMakerRunner(clients).start(subject.request(subject.task(10)))  # type: ignore[arg-type]


def test_of_several_types_in_one_request_the_selected_one_is_what_runs(subject: Subject) -> None:
    other = replace(subject.place, lane=replace(subject.place.lane, instance_type="ml.c5.2xlarge"), instances=2)
    task = replace(subject.task(8, "hang"), places=(subject.place, replace(other, joined=True)))
    attempt = subject.start(task)
    found = {one.training: one for one in make_operating("sagemaker").alive(Clients(), REGION)}
    one = found[attempt.training]
    assert (one.lane, one.instances) == (attempt.lane, 1)
    subject.connect().stop(attempt)
    subject.outcome(attempt)


def test_what_runs_with_a_runs_tags_is_found_until_it_has_ended(subject: Subject) -> None:
    attempt = subject.start(subject.task(7, "hang"))
    operating = make_operating("sagemaker")
    assert REGION in operating.regions(Clients())
    found = {one.training: one for one in operating.alive(Clients(), REGION)}
    one = found[attempt.training]
    assert (one.run, one.task, one.attempt) == (subject.template.run, 7, attempt.number)
    assert (one.lane, one.instances) == (attempt.lane, 1)
    assert one.output.startswith(subject.template.output)
    subject.connect().stop(attempt)
    subject.outcome(attempt)
    assert attempt.training not in {one.training for one in operating.alive(Clients(), REGION)}
    assert attempt.training not in {one.training for one in operating.alive(Clients(), ELSEWHERE)}
