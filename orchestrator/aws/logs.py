"""Lines of CloudWatch log streams, each given once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_logs import CloudWatchLogsClient

    from orchestrator.aws.session import Clients


def events(clients: Clients, region: str, group: str, prefix: str, after: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (stream, line) of every stream that begins with `prefix`, from where `after` left off to the present end.

    `after` holds a token per stream and is brought up to date as the lines are taken: the next call with it goes on
    from there. A group or stream that is not there yet has no lines.
    """
    client = clients.client("logs", region)
    try:
        for stream in list(_streams(client, region, group, prefix)):
            for line in _lines(client, region, (group, stream), after):
                yield stream, line
    except NotFound:
        return


def _streams(client: CloudWatchLogsClient, region: str, group: str, prefix: str) -> Iterator[str]:
    with aws_errors(f"list the log streams {group}/{prefix}*", where=region):
        pages = client.get_paginator("describe_log_streams").paginate(logGroupName=group, logStreamNamePrefix=prefix)
        for page in pages:
            yield from (stream["logStreamName"] for stream in page["logStreams"])


def _lines(client: CloudWatchLogsClient, region: str, at: tuple[str, str], after: dict[str, str]) -> Iterator[str]:
    group, stream = at
    while True:
        token = after.get(stream)
        with aws_errors(f"read the log stream {group}/{stream}", where=region):
            if token:
                page = client.get_log_events(
                    logGroupName=group, logStreamName=stream, startFromHead=True, nextToken=token
                )
            else:
                page = client.get_log_events(logGroupName=group, logStreamName=stream, startFromHead=True)
        yield from (event["message"] for event in page["events"])
        after[stream] = page["nextForwardToken"]
        if after[stream] == token:  # so the last page answers
            return
