"""A topic of SNS on the local cloud is told of an event once, and who subscribes to it gets the whole of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.localcloud import names
from orchestrator.notices.channels import Channels
from orchestrator.notices.notice import Notice
from orchestrator.notices.send import BEFORE, notify

if TYPE_CHECKING:
    from collections.abc import Callable

REGION = "us-east-1"


@pytest.mark.long
def test_a_topic_is_told_once(client: Callable[..., Any], name: str, cloud_environment: dict[str, str]) -> None:  # noqa: ARG001
    sns, sqs = client("sns", REGION), client("sqs", REGION)
    topic = sns.create_topic(Name=name)["TopicArn"]
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    control = S3(Clients(), REGION, names.bucket())
    notice = Notice("promoted", (name, "1"), f"{name}: promoted: it is better", 1795000000.5, name)
    said = [notify(notice, [Channels((topic,))], control, Clients())[0] for _ in range(2)]
    assert [(one.address, one.sent, one.why) for one in said] == [(topic, True, ""), (topic, False, BEFORE)]
    (message,) = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    assert json.loads(json.loads(message["Body"])["Message"]) == notice.payload()
