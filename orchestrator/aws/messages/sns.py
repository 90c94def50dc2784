"""Publishes messages to SNS topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

_LONGEST_SUBJECT = 99


def publish(topic: str, title: str, message: str, name: str, clients: Clients) -> None:
    """Publish a message once. Its subject is the title, as far as SNS takes it: one line of ASCII.

    Of a topic in order, SNS itself leaves out a second message of the same name within five minutes.
    """
    subject = " ".join(title.encode("ascii", "replace").decode().split())[:_LONGEST_SUBJECT]
    further: dict[str, Any] = {}
    if topic.endswith(".fifo"):
        further = {"MessageGroupId": "sweep", "MessageDeduplicationId": name}
    region = topic.split(":")[3]
    with aws_errors(f"publish to {topic}", where=region):
        clients.client("sns", region, once=True).publish(
            TopicArn=topic, Subject=subject or "sweep", Message=message, **further
        )
