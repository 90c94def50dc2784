"""A cloud misbehaves on command, and the same way again."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from orchestrator.localcloud import LocalCloudError
from orchestrator.localcloud.faults.faults import Active, Fault
from tests.localcloud.conftest import WAIT_FOR_SIGTERM, BatchDesk, TrainingDesk, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("x", "there is no service 'x': write it like sagemaker:CreateTrainingJob"),
        ("sagemakr:CreateTrainingJob", "there is no service 'sagemakr': did you mean sagemaker"),
        (
            "sagemaker:CreateTrainingJobs",
            "has no operation 'CreateTrainingJobs': did you mean CreateTrainingJob",
        ),
        ("*:CreateTrainingJub", "* has no operation 'CreateTrainingJub': did you mean CreateTrainingJob"),
    ],
)
def test_a_call_that_there_is_not_is_refused_with_those_that_come_near(what: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Fault.read({"kind": "throttle", "what": what})


@pytest.mark.parametrize("what", ["*", "s3:*", "batch", "sagemaker:*Training*", "*:SubmitJob", "servicequotas:List*"])
def test_a_call_that_there_is_may_be_named_with_asterisks(what: str) -> None:
    assert Fault.read({"kind": "throttle", "what": what}).what == what


def outcome(call: Callable[..., Any], **arguments: Any) -> tuple[int, str]:
    """Return the status and code of an answer; 0 when there was none."""
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]
    except ConnectionClosedError:
        return 0, "reset"
    return 200, ""


# Calls


@pytest.mark.parametrize(
    ("service", "operation", "arguments", "expected"),
    [
        ("sagemaker", "ListTrainingJobs", {}, (400, "ThrottlingException")),
        ("batch", "ListJobs", {"jobQueue": "sweep"}, (429, "TooManyRequestsException")),
        ("s3", "ListObjectsV2", {"Bucket": "sweep-local"}, (503, "SlowDown")),
        ("ec2", "DescribeInstances", {}, (503, "RequestLimitExceeded")),
        ("logs", "DescribeLogGroups", {}, (400, "ThrottlingException")),
    ],
)
def test_a_throttled_call_is_refused_in_its_services_words(
    cloud: LocalCloud,
    client: Callable[..., Any],
    service: str,
    operation: str,
    arguments: dict[str, Any],
    expected: Any,
) -> None:
    from botocore import xform_name

    call = getattr(client(service), xform_name(operation))
    with cloud.fault("throttle", f"{service}:{operation}"):
        assert outcome(call, **arguments) == expected
    assert outcome(call, **arguments) == (200, "")


def test_a_share_of_calls_is_hit_and_the_same_ones_again(cloud: LocalCloud, client: Callable[..., Any]) -> None:
    def calls(seed: int) -> list[int]:
        with cloud.fault("throttle", "sagemaker:List*", percent=30, seed=seed):
            return [outcome(client("sagemaker").list_models)[0] for _ in range(60)]

    first = calls(1)
    assert 5 < first.count(400) < 35
    assert calls(1) == first
    assert calls(2) != first


def test_a_fault_is_for_its_region_its_operation_and_its_times(cloud: LocalCloud, client: Callable[..., Any]) -> None:
    with cloud.fault("throttle", "batch:ListJobs", region="eu-west-1", times=1):
        assert outcome(client("batch", "us-east-1").list_jobs, jobQueue="sweep")[0] == 200
        assert outcome(client("batch", "eu-west-1").describe_job_queues)[0] == 200
        assert outcome(client("batch", "eu-west-1").list_jobs, jobQueue="sweep")[0] == 429
        assert outcome(client("batch", "eu-west-1").list_jobs, jobQueue="sweep")[0] == 200


@pytest.mark.parametrize("kind", ["error", "reset"])
@pytest.mark.parametrize("after", [False, True])
def test_a_call_fails_before_its_effect_or_after_it(
    cloud: LocalCloud, client: Callable[..., Any], name: str, kind: str, after: bool
) -> None:
    s3 = client("s3")
    with cloud.fault(kind, "s3:PutObject", after=after):
        seen = outcome(s3.put_object, Bucket="sweep-local", Key=name, Body=b"x")
    assert seen == ((500, "InternalError") if kind == "error" else (0, "reset"))
    assert ("Contents" in s3.list_objects_v2(Bucket="sweep-local", Prefix=name)) == after


def test_a_lost_answer_of_submit_leaves_a_job(cloud: LocalCloud, batch: BatchDesk) -> None:
    """The work is done, and the caller does not know: every caller must reckon with that."""
    definition = batch.define(["true"])
    with cloud.fault("error", "batch:SubmitJob", after=True):
        seen = outcome(batch.submit, command=[], definition=definition)
    assert seen == (500, "ServerException")
    by_name = [{"name": "JOB_NAME", "values": [batch.name]}]
    assert len(batch.client.list_jobs(jobQueue="sweep", filters=by_name)["jobSummaryList"]) == 1


def test_a_slow_answer_comes_late(cloud: LocalCloud, client: Callable[..., Any]) -> None:
    with cloud.fault("slow", "batch:ListJobs", seconds=0.5):
        before = time.monotonic()
        client("batch").list_jobs(jobQueue="sweep")
        assert time.monotonic() - before >= 0.5


def test_a_stale_list_is_that_of_a_while_ago(cloud: LocalCloud, batch: BatchDesk) -> None:
    def listed() -> int:
        by_name = [{"name": "JOB_NAME", "values": [batch.name]}]
        return len(batch.client.list_jobs(jobQueue="sweep", filters=by_name)["jobSummaryList"])

    with cloud.fault("stale", "batch:List*", seconds=60):
        assert listed() == 0
        batch.end(batch.submit(["true"]))
        assert listed() == 0
        cloud.advance(61)
        assert listed() == 1


def test_a_region_that_is_down_answers_nobody(cloud: LocalCloud, client: Callable[..., Any]) -> None:
    with cloud.fault("down", region="eu-west-1"):
        assert outcome(client("sagemaker", "eu-west-1").list_training_jobs) == (0, "reset")
        assert outcome(client("s3", "eu-west-1").list_objects_v2, Bucket="sweep-local-eu-west-1") == (0, "reset")
        assert outcome(client("sagemaker", "us-west-2").list_training_jobs)[0] == 200
    assert outcome(client("sagemaker", "eu-west-1").list_training_jobs)[0] == 200


# At a moment


def test_a_fault_begins_and_ends_on_the_clouds_clock(cloud: LocalCloud, client: Callable[..., Any]) -> None:
    call = client("sagemaker", "us-west-2").list_training_jobs
    number = cloud.steering.add("throttle", "sagemaker:*", region="us-west-2", delay=100, lasts=100)["id"]
    assert outcome(call)[0] == 200
    cloud.advance(101)
    eventually(lambda: outcome(call)[0] == 400)
    cloud.advance(101)
    eventually(lambda: outcome(call)[0] == 200)
    assert number not in [each["id"] for each in cloud.steering.faults()]


def test_a_launchers_host_is_reclaimed(cloud: LocalCloud, batch: BatchDesk) -> None:
    """AWS Batch user guide, "Automated job retries": onStatusReason `Host EC2*` is a host that was taken away."""
    rules = [{"onStatusReason": "Host EC2*", "action": "RETRY"}, {"onReason": "*", "action": "EXIT"}]
    job = batch.submit(WAIT_FOR_SIGTERM, retryStrategy={"attempts": 3, "evaluateOnExit": rules})
    batch.in_state(job, "RUNNING")
    cloud.steering.add("reclaim", job)
    eventually(lambda: len(batch.job(job)["attempts"]) == 1)
    batch.in_state(job, "RUNNING")
    first = batch.job(job)["attempts"][0]
    assert first["statusReason"].startswith("Host EC2 (instance i-0")
    assert first["statusReason"].endswith(" terminated.")
    assert "exitCode" not in first["container"]
    cloud.steering.add("kill", job)
    ended = batch.end(job)
    assert [each["container"].get("exitCode") for each in ended["attempts"]] == [None, 137]
    assert ended["statusReason"] == "Essential container in task exited"


def test_an_event_waits_for_its_moment(cloud: LocalCloud, sagemaker: TrainingDesk) -> None:
    sagemaker.start("import time; time.sleep(600)")
    eventually(lambda: sagemaker.training()["SecondaryStatus"] == "Training")
    cloud.steering.add("kill", sagemaker.name, delay=300)
    assert sagemaker.training()["TrainingJobStatus"] == "InProgress"
    cloud.advance(301)
    assert sagemaker.end()["TrainingJobStatus"] == "Failed"


def test_what_is_taken_back_before_its_moment_never_happens(cloud: LocalCloud, sagemaker: TrainingDesk) -> None:
    sagemaker.start("import time; time.sleep(600)")
    eventually(lambda: sagemaker.training()["SecondaryStatus"] == "Training")
    with cloud.fault("kill", sagemaker.name, delay=300):
        pass
    cloud.advance(301)
    sagemaker.client.stop_training_job(TrainingJobName=sagemaker.name)
    assert sagemaker.end()["TrainingJobStatus"] == "Stopped"


# Asking for them


def test_faults_are_listed_and_taken_back(cloud: LocalCloud) -> None:
    number = cloud.steering.add("slow", "s3:GetObject", seconds=9)["id"]
    listed = {each["id"]: each for each in cloud.steering.faults()}
    assert (listed[number]["kind"], listed[number]["what"], listed[number]["seconds"]) == ("slow", "s3:GetObject", 9)
    cloud.steering.remove()
    assert cloud.steering.faults() == []


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"kind": "boom"}, "there is no fault boom"),
        ({"kind": "throttle", "colour": "red"}, "a fault has no colour"),
        ({"kind": "down"}, "down needs a region"),
        ({"kind": "slow"}, "slow needs seconds"),
        ({"kind": "kill", "what": "nothing-of-this-name"}, "nothing of the name nothing-of-this-name runs"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused_in_words(cloud: LocalCloud, wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(LocalCloudError, match=text):
        cloud.steering.add(**wrong)
    assert cloud.steering.faults() == []


def test_the_draws_of_a_seed_are_spread_evenly() -> None:
    active = Active(1, Fault("throttle", percent=25, seed=11))
    assert 2200 < sum(active.hits_next_call() for _ in range(10_000)) < 2800
