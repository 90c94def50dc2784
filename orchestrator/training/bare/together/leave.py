"""One word for all machines of a training: leave. It is put once, by whoever is first, and says why.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.training.bare.files.bucket import NotThere, Uri

if TYPE_CHECKING:
    from orchestrator.training.bare.files.bucket import Bucket

VERSION = 1
TASK, TIMEOUT, INTERRUPTED, STOPPED = "task", "timeout", "interrupted", "stopped"
"""Why a training ends before it is done: by itself, for its time is up, for a machine is lost, for somebody asked."""
HUNG = 124
"""The exit code of a pod that its watchdog has ended. It has left no word."""


class Verdict(NamedTuple):
    """Why a training ends before it is done."""

    cause: str
    reason: str
    """One line for people."""


def leave_uri(output: str) -> str:
    """Return where the word stands, given the prefix of an attempt."""
    return f"{output}/leave.json"


def leave_body(verdict: Verdict, by: str) -> bytes:
    """Return the word as it is stored. `by` names who has put it; empty where there is one machine only."""
    body = {"version": VERSION, "cause": verdict.cause, "reason": verdict.reason, "by": by, "at": time.time()}
    return json.dumps(body).encode()


def tell_all(bucket: Bucket, output: str, verdict: Verdict, by: str) -> None:
    """Tell all machines to leave, unless they have been told. Raise S3Failed."""
    bucket.write(Uri.parse(leave_uri(output)), leave_body(verdict, by), once=True)


def hear_all(bucket: Bucket, output: str) -> Verdict | None:
    """Return why all machines are to leave; None while they are not. Raise S3Failed."""
    try:
        return read_leave(bucket.read(Uri.parse(leave_uri(output))))
    except NotThere:
        return None


def read_leave(text: bytes) -> Verdict:
    """Return what the word says, with who has said it, unless there is nobody else."""
    body = json.loads(text)
    by = f"{body['by']}: " if body["by"] else ""
    return Verdict(str(body["cause"]), f"{by}{body['reason']}")
