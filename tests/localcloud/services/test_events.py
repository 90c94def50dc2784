"""EventBridge and EventBridge Scheduler.

Sources: AWS Batch user guide, "Batch job state change events"; SageMaker developer guide, "Events"; EventBridge
Scheduler user guide, "Schedule types" and "Universal targets".
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.localcloud.services.schedules.timetable import Unreadable, next_due
from tests.localcloud.conftest import BatchDesk, TrainingDesk, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.localcloud import LocalCloud


class Inbox:
    """An SQS queue, and what has come to it."""

    def __init__(self, client: Callable[..., Any], name: str) -> None:
        self._sqs = client("sqs")
        self.url = self._sqs.create_queue(QueueName=name)["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]
        self.arn = attributes["QueueArn"]
        self.messages: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        """Take new messages from the queue; return all that have come."""
        for message in self._sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages", []):
            self.messages.append(json.loads(message["Body"]))
            self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return self.messages

    def read_at_least(self, count: int) -> list[dict[str, Any]]:
        """Read until so many messages have come; return all that have come."""
        eventually(lambda: len(self.read()) >= count)
        return self.messages


@pytest.fixture
def inbox(client: Callable[..., Any], name: str) -> Inbox:
    return Inbox(client, name)


@pytest.fixture
def listen(client: Callable[..., Any], name: str, inbox: Inbox) -> Iterator[Callable[[dict[str, Any]], None]]:
    events = client("events")

    def rule(pattern: dict[str, Any]) -> None:
        events.put_rule(Name=name, EventPattern=json.dumps(pattern))
        events.put_targets(Rule=name, Targets=[{"Id": "inbox", "Arn": inbox.arn}])

    yield rule
    events.remove_targets(Rule=name, Ids=["inbox"])
    events.delete_rule(Name=name)


# State changes


def test_each_change_of_a_jobs_state_is_an_event(
    batch: BatchDesk, inbox: Inbox, listen: Callable[[dict[str, Any]], None]
) -> None:
    listen({"source": ["aws.batch"], "detail": {"jobName": [batch.name]}})
    job = batch.submit("exit 3")
    batch.end(job)
    events = inbox.read_at_least(4)
    assert {event["detail-type"] for event in events} == {"Batch Job State Change"}
    states = [event["detail"]["status"] for event in events]
    assert sorted(states) == sorted(["RUNNABLE", "STARTING", "RUNNING", "FAILED"])
    last = next(event for event in events if event["detail"]["status"] == "FAILED")
    assert last["resources"] == [batch.job(job)["jobArn"]]
    assert (last["region"], last["detail"]["container"]["exitCode"]) == ("us-east-1", 3)


def test_a_rule_hears_only_what_it_asks_for(
    batch: BatchDesk, inbox: Inbox, listen: Callable[[dict[str, Any]], None]
) -> None:
    listen({"source": ["aws.batch"], "detail": {"jobName": [batch.name], "status": ["SUCCEEDED", "FAILED"]}})
    array = batch.submit(["true"], arrayProperties={"size": 2})
    batch.end(array)
    eventually(lambda: len(inbox.read()) == 3)
    assert {event["detail"]["jobId"] for event in inbox.messages} == {array, f"{array}:0", f"{array}:1"}


def test_each_change_of_a_trainings_status_is_an_event(
    sagemaker: TrainingDesk, inbox: Inbox, listen: Callable[[dict[str, Any]], None]
) -> None:
    listen({"detail-type": ["SageMaker Training Job State Change"], "detail": {"TrainingJobName": [sagemaker.name]}})
    training = sagemaker.run("pass")
    eventually(lambda: len(inbox.read()) == 5)
    last = next(event for event in inbox.messages if event["detail"]["TrainingJobStatus"] == "Completed")
    assert last["source"] == "aws.sagemaker"
    assert last["detail"]["CreationTime"] == pytest.approx(training["CreationTime"].timestamp() * 1000, abs=2)


# Schedules

SUBMIT_JOB = "arn:aws:scheduler:::aws-sdk:batch:submitJob"


def schedule(client: Callable[..., Any], name: str, expression: str, target: dict[str, Any], **more: Any) -> None:
    role = {"RoleArn": "arn:aws:iam::123456789012:role/sweep-launcher"}
    client("scheduler").create_schedule(
        Name=name,
        ScheduleExpression=expression,
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={**role, **target},
        **more,
    )


def test_a_schedule_fires_on_the_clouds_clock(
    client: Callable[..., Any], cloud: LocalCloud, inbox: Inbox, name: str
) -> None:
    target = {"Arn": inbox.arn, "Input": json.dumps({"night": "<aws.scheduler.scheduled-time>"})}
    schedule(client, name, "rate(1 day)", target)
    assert inbox.read() == []
    cloud.advance(3 * 86_400 + 60)
    nights = inbox.read_at_least(3)
    assert len({each["night"] for each in nights}) == 3
    client("scheduler").delete_schedule(Name=name)
    cloud.advance(86_400)
    assert len(inbox.read()) == 3


def test_a_schedule_submits_a_batch_job(
    client: Callable[..., Any], cloud: LocalCloud, batch: BatchDesk, name: str
) -> None:
    job = {"JobName": batch.name, "JobQueue": "sweep", "JobDefinition": batch.define(["true"])}
    target = {"Arn": SUBMIT_JOB, "Input": json.dumps(job)}
    schedule(client, name, "rate(5 minutes)", target)
    cloud.advance(301)
    by_name = [{"name": "JOB_NAME", "values": [batch.name]}]
    eventually(lambda: batch.client.list_jobs(jobQueue="sweep", filters=by_name)["jobSummaryList"])
    client("scheduler").delete_schedule(Name=name)


def test_a_job_that_batch_refuses_ends_among_the_dead_letters_and_its_schedule_goes_on(
    client: Callable[..., Any], cloud: LocalCloud, inbox: Inbox, name: str
) -> None:
    job = {
        "JobName": name,
        "JobQueue": "nowhere",
        "JobDefinition": "nowhere",
        "Tags": {"night": "<aws.scheduler.schedule-arn>"},
    }
    target = {"Arn": SUBMIT_JOB, "Input": json.dumps(job), "DeadLetterConfig": {"Arn": inbox.arn}}
    schedule(client, name, "rate(5 minutes)", target)
    cloud.advance(301)
    sqs = client("sqs")

    def read() -> list[dict[str, Any]]:
        found = sqs.receive_message(QueueUrl=inbox.url, MessageAttributeNames=["All"]).get("Messages", [])
        return list(found)

    (letter,) = eventually(read)
    said = {key: each["StringValue"] for key, each in letter["MessageAttributes"].items()}
    arn = client("scheduler").get_schedule(Name=name)["Arn"]
    assert json.loads(letter["Body"]) == {**job, "Tags": {"night": arn}}
    assert (said["SCHEDULE_ARN"], said["TARGET_ARN"], said["ERROR_CODE"]) == (arn, SUBMIT_JOB, "ClientException")
    assert "nowhere" in said["ERROR_MESSAGE"]
    assert datetime.fromisoformat(said["SCHEDULED_TIME"].replace("Z", "+00:00")).tzinfo is not None
    cloud.advance(300)
    eventually(lambda: any(each["MessageId"] != letter["MessageId"] for each in read()))
    client("scheduler").delete_schedule(Name=name)


def test_a_group_that_is_there_is_refused_and_keeps_its_schedules(client: Callable[..., Any], name: str) -> None:
    scheduler = client("scheduler")
    scheduler.create_schedule_group(Name=name)
    schedule(client, f"{name}-a", "rate(1 day)", {"Arn": SUBMIT_JOB, "Input": "{}"}, GroupName=name)
    with pytest.raises(scheduler.exceptions.ConflictException, match=f"{name} already exists") as refused:
        scheduler.create_schedule_group(Name=name)
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 409
    schedule(client, f"{name}-b", "rate(1 day)", {"Arn": SUBMIT_JOB, "Input": "{}"}, GroupName=name)
    kept = {each["Name"] for each in scheduler.list_schedules(GroupName=name)["Schedules"]}
    scheduler.delete_schedule_group(Name=name)
    assert kept == {f"{name}-a", f"{name}-b"}


def test_a_schedule_for_one_moment_may_go_when_it_has_fired(
    client: Callable[..., Any], cloud: LocalCloud, inbox: Inbox, name: str
) -> None:
    schedule(
        client, f"{name}-a", "rate(1 minute)", {"Arn": inbox.arn, "Input": '{"at": "<aws.scheduler.scheduled-time>"}'}
    )
    cloud.advance(60)
    now = eventually(inbox.read)[0]["at"]
    client("scheduler").delete_schedule(Name=f"{name}-a")
    inbox.messages.clear()
    moment = datetime.fromisoformat(now.replace("Z", "+00:00")) + timedelta(hours=1)
    once = {"Arn": inbox.arn, "Input": '{"once": true}'}
    schedule(client, name, f"at({moment:%Y-%m-%dT%H:%M:%S})", once, ActionAfterCompletion="DELETE")
    cloud.advance(3600)
    assert eventually(inbox.read) == [{"once": True}]
    eventually(lambda: name not in {each["Name"] for each in client("scheduler").list_schedules()["Schedules"]})


def test_a_disabled_schedule_rests(client: Callable[..., Any], cloud: LocalCloud, inbox: Inbox, name: str) -> None:
    schedule(client, name, "rate(1 hour)", {"Arn": inbox.arn}, State="DISABLED")
    cloud.advance(7200)
    assert inbox.read() == []


@pytest.mark.parametrize(
    ("expression", "target", "text"),
    [
        ("every(day)", "arn:aws:sqs:us-east-1:123456789012:q", "Invalid Schedule Expression"),
        ("rate(1 day)", "arn:aws:lambda:us-east-1:123456789012:function:f", "reach SQS queues"),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(
    client: Callable[..., Any], name: str, expression: str, target: str, text: str
) -> None:
    with pytest.raises(ClientError, match=text):
        schedule(client, name, expression, {"Arn": target})


# Time-tables


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("expression", "zone", "after", "first"),
    [
        ("cron(0 2 * * ? *)", "UTC", "2026-11-21T02:00", "2026-11-22T02:00"),
        ("cron(30 8 ? * MON-FRI *)", "UTC", "2026-11-20T09:00", "2026-11-23T08:30"),
        ("cron(0/15 * * * ? *)", "UTC", "2026-11-21T02:46", "2026-11-21T03:00"),
        ("cron(0 0 29 2 ? *)", "UTC", "2026-01-01T00:00", "2028-02-29T00:00"),
        ("cron(0 2 * * ? *)", "Europe/Berlin", "2026-07-01T00:00", "2026-07-02T00:00"),
        ("cron(0 2 * * ? *)", "Europe/Berlin", "2026-12-01T00:00", "2026-12-01T01:00"),
        ("at(2026-11-21T02:00:00)", "UTC", "2026-11-01T00:00", "2026-11-21T02:00"),
        ("rate(2 hours)", "UTC", "2026-11-21T03:00", "2026-11-21T04:00"),
    ],
)
def test_the_next_time_of_a_schedule(expression: str, zone: str, after: str, first: str) -> None:
    since = moment("2026-11-21T00:00")
    assert next_due(expression, zone, since=since, after=moment(after)) == moment(first)


@pytest.mark.parametrize("expression", ["cron(0 2 * * *)", "cron(0 2 * * MON *)", "rate(0 days)", "cron(61 * * * ? *)"])
def test_an_expression_that_means_nothing_is_unreadable(expression: str) -> None:
    with pytest.raises(Unreadable):
        next_due(expression, "UTC", since=0, after=0)


def test_a_moment_that_is_past_is_never_due_again() -> None:
    assert next_due("at(2020-01-01T00:00:00)", "UTC", since=0, after=moment("2026-01-01T00:00")) is None
