from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.aws.logs import events
from tests.fixtures.aws import REGION

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

GROUP = "/aws/sagemaker/TrainingJobs"


def write(clients: Clients, stream: str, *lines: str) -> None:
    clients.client("logs", REGION).put_log_events(
        logGroupName=GROUP,
        logStreamName=stream,
        logEvents=[{"timestamp": int(time.time() * 1000) + n, "message": line} for n, line in enumerate(lines)],
    )


def test_a_group_that_is_not_there_yet_has_no_lines(clients: Clients) -> None:
    assert list(events(clients, REGION, GROUP, "t-1/", {})) == []


def test_lines_of_all_streams_under_a_prefix_are_given_once(clients: Clients) -> None:
    client = clients.client("logs", REGION)
    client.create_log_group(logGroupName=GROUP)
    for stream in ("t-1/algo-1-5", "t-1/algo-2-5", "t-10/algo-1-5"):
        client.create_log_stream(logGroupName=GROUP, logStreamName=stream)
    write(clients, "t-1/algo-1-5", "one", "two")
    write(clients, "t-1/algo-2-5", "other host")
    write(clients, "t-10/algo-1-5", "other training")
    after: dict[str, str] = {}
    assert list(events(clients, REGION, GROUP, "t-1/", after)) == [
        ("t-1/algo-1-5", "one"), ("t-1/algo-1-5", "two"), ("t-1/algo-2-5", "other host"),
    ]  # fmt: skip
    assert list(events(clients, REGION, GROUP, "t-1/", after)) == []
    write(clients, "t-1/algo-1-5", "three")
    assert list(events(clients, REGION, GROUP, "t-1/", after)) == [("t-1/algo-1-5", "three")]
