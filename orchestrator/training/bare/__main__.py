"""`python3 -m orchestrator.training.bare ASSIGNMENT DIGEST`: see `bare/__init__.py`.

It travels into the training: standard library only.
"""

from __future__ import annotations

import hashlib
import os
import sys

from orchestrator.training.bare.assignment import BadAssignment, read_assignment
from orchestrator.training.bare.bucket import Bucket, S3Failed, Uri
from orchestrator.training.bare.logs import Log, Stream
from orchestrator.training.bare.machine_run import MachineRun
from orchestrator.training.bare.place import NoPlace, find_place
from orchestrator.training.credentials import Keyring
from orchestrator.training.process import write_line

CANNOT_START = 125


def main(uri: str, digest: str) -> int:
    """Run this machine's part of the training that an assignment describes; return the exit code.

    Nothing is written to S3 when it cannot be known which assignment it is, or which of its machines this is.
    """
    keyring = Keyring(os.environ)
    bucket = Bucket(os.environ.get("AWS_REGION", "us-east-1"), os.environ, keyring)
    try:
        text = bucket.read(Uri.parse(uri))
        if hashlib.sha256(text).hexdigest() != digest:
            raise BadAssignment(f"{uri} is not the assignment that this machine was started for")
        assignment = read_assignment(text)
        place = find_place(assignment, os.environ)
    except (S3Failed, BadAssignment, NoPlace, OSError) as error:
        write_line(f"sweep: cannot start: {error}")
        return CANNOT_START
    stream = None
    if assignment.log_group:
        name = f"{assignment.training}/rank-{place.index}"
        stream = Stream(assignment.region, assignment.log_group, name, os.environ, keyring)
    return MachineRun(assignment, place, bucket, Log(stream), os.environ).run()


if __name__ == "__main__":
    # Not by returning: a thread that still fetches what nobody needs any more would be waited for.
    code = main(*sys.argv[1:3])
    sys.stdout.flush()
    os._exit(code)
