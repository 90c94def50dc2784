"""Looks at what lies in an SQS queue. Who has taken a message gives it back, or deletes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients

_HELD_S = 30
"""Seconds for which nobody else sees what was taken, should it not be given back."""
_WAIT_S = 1
"""Seconds that a request waits for messages: only with a wait SQS asks all of its servers."""
_LOOKS = 10
"""Requests for ten messages each: more than these a look does not show."""


@dataclass(frozen=True)
class Message:
    """A message that was taken from a queue."""

    body: str
    attributes: Mapping[str, str]
    receipt: str = field(repr=False)


class Queue:
    """One SQS queue."""

    def __init__(self, clients: Clients, arn: str) -> None:
        self.arn = arn
        _, _, _, self._region, self._account, self._name = arn.split(":")
        self._clients = clients

    def is_there(self) -> bool:
        """Return whether there is such a queue. Nothing in it is touched."""
        try:
            with aws_errors(f"look for {self.arn}", where=self._region):
                self._url()
        except NotFound:
            return False
        return True

    def take(self) -> list[Message]:
        """Return what lies in it, the newest hundred at most. Others do not see these for a while."""
        found: list[Message] = []
        with aws_errors(f"look into {self.arn}", where=self._region):
            url = self._url()
            for _ in range(_LOOKS):
                taken = self._client.receive_message(
                    QueueUrl=url,
                    MaxNumberOfMessages=10,
                    MessageAttributeNames=["All"],
                    VisibilityTimeout=_HELD_S,
                    WaitTimeSeconds=_WAIT_S,
                ).get("Messages", [])
                if not taken:
                    break
                found += [_message(each) for each in taken]
        return found

    def give_back(self, message: Message) -> None:
        """Let others see a message again."""
        with aws_errors(f"give back a message of {self.arn}", where=self._region):
            self._client.change_message_visibility(
                QueueUrl=self._url(), ReceiptHandle=message.receipt, VisibilityTimeout=0
            )

    def delete(self, message: Message) -> None:
        """Take a message away for good."""
        with aws_errors(f"delete a message of {self.arn}", where=self._region):
            self._client.delete_message(QueueUrl=self._url(), ReceiptHandle=message.receipt)

    def _url(self) -> str:
        found = self._client.get_queue_url(QueueName=self._name, QueueOwnerAWSAccountId=self._account)
        return str(found["QueueUrl"])

    @property
    def _client(self) -> Any:
        return self._clients.client("sqs", self._region)


def _message(body: Mapping[str, Any]) -> Message:
    attributes = body.get("MessageAttributes", {})
    texts = {name: str(each.get("StringValue", "")) for name, each in attributes.items()}
    return Message(str(body.get("Body", "")), texts, str(body["ReceiptHandle"]))
