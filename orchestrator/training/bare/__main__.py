"""`python3 -m orchestrator.training.bare ASSIGNMENT DIGEST`: see `bare/__init__.py`.

It travels into the training: standard library only.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from orchestrator.training.bare.assignment import BadAssignment, read_assignment
from orchestrator.training.bare.files.bucket import Bucket, S3Failed, Uri
from orchestrator.training.bare.machine_run import MachineRun
from orchestrator.training.bare.telling.logs import Log, Stream
from orchestrator.training.bare.together.coming_back import begun_before
from orchestrator.training.bare.together.leave import HUNG, INTERRUPTED, Verdict, tell_all
from orchestrator.training.bare.together.place import NoPlace, find_place
from orchestrator.training.credentials import Keyring
from orchestrator.training.process import write_line

if TYPE_CHECKING:
    from orchestrator.training.bare.assignment import Assignment

CANNOT_START = 125


def main(uri: str, digest: str) -> int:
    """Run this machine's part of the training that an assignment describes; return the exit code.

    Nothing is written to S3 when the assignment cannot be read: then only this machine's own output tells why.
    """
    _end_in_time()
    keyring = Keyring(os.environ)
    bucket = Bucket(os.environ.get("AWS_REGION", "us-east-1"), os.environ, keyring)
    try:
        text = bucket.read(Uri.parse(uri))
        if hashlib.sha256(text).hexdigest() != digest:
            raise BadAssignment(f"{uri} is not the assignment that this machine was started for")
        assignment = read_assignment(text)
    except (S3Failed, BadAssignment) as error:
        write_line(f"sweep: cannot start: {error}")
        return CANNOT_START
    try:
        place = find_place(assignment, os.environ)
    except (NoPlace, OSError) as error:
        write_line(f"sweep: cannot start: {error}")
        _tell_without_a_place(assignment, bucket, str(error))
        return CANNOT_START
    stream = None
    if assignment.log_group:
        name = f"{assignment.training}/rank-{place.index}"
        stream = Stream(assignment.region, assignment.log_group, name, os.environ, keyring)
    already_s = 0.0
    if assignment.least:
        already_s = begun_before(bucket, assignment.output)
        _end_in_time(already_s)
    return MachineRun(assignment, place, bucket, Log(stream), os.environ, already_s).run()


def _end_in_time(already_s: float = 0.0) -> None:
    """Have this process end at the moment that the stub has noted, or so many seconds before it, whatever hangs."""
    ends_at = os.environ.get("SWEEP_ENDS_AT")
    if ends_at:
        watchdog = threading.Timer(max(float(ends_at) - already_s - time.monotonic(), 0.0), _end)
        watchdog.daemon = True
        watchdog.start()


def _end() -> None:
    write_line("sweep: its watchdog ends it: its time is over, and it still hung")
    os._exit(HUNG)


def _tell_without_a_place(assignment: Assignment, bucket: Bucket, why: str) -> None:
    """Let all machines leave: one of them does not know which one it is. Without this it would go without a word."""
    try:
        tell_all(bucket, assignment.output, Verdict(INTERRUPTED, why), "a machine that does not know its place")
    except S3Failed as error:
        write_line(f"sweep: nobody can be told of it: {error}")


if __name__ == "__main__":
    # Not by returning: a thread that still fetches what nobody needs any more would be waited for.
    code = main(*sys.argv[1:3])
    sys.stdout.flush()
    os._exit(code)
