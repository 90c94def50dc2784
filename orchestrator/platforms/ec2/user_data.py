"""User data: what an instance does when it boots. It ends the instance, whatever happens.

The watchdog comes first, so that nothing that hangs later keeps the instance. The stub fetches the rest from S3.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from orchestrator.errors import InvalidRequest
from orchestrator.training.bare.stub import make_stub

if TYPE_CHECKING:
    from orchestrator.training.bare.assignment import Assignment

MOST = 16_384
"""Bytes that EC2 takes."""
WATCHDOG_SPARE_S = 600
"""Seconds that the watchdog leaves beyond the longest run: for booting, the grace after SIGTERM, and the model."""
_SHUTDOWN = "shutdown -h now"


def make_user_data(assignment: Assignment, uri: str, digest: str) -> str:
    """Return the script for an assignment that lies at this address, with this digest.

    Raise InvalidRequest when it is longer than EC2 takes.
    """
    latest_s = int(assignment.max_runtime_s + assignment.grace_s) + WATCHDOG_SPARE_S
    arguments = " ".join(map(shlex.quote, (assignment.sources, uri, digest)))
    lines = (
        "#!/bin/bash",
        f"systemd-run --on-active={latest_s}s {_SHUTDOWN} || (sleep {latest_s}; {_SHUTDOWN}) &",
        f"trap '{_SHUTDOWN}' EXIT",
        f"export AWS_REGION={shlex.quote(assignment.region)} HOME=/root",
        f"for bin in {' '.join(map(shlex.quote, assignment.path))}; do [ -d $bin ] && PATH=$bin:$PATH; done",
        f"python3 -c '{make_stub('instance').strip()}' {arguments} &",
        # bash runs its traps between commands only: it waits for the training, and hands a SIGTERM on to it.
        "child=$!; trap 'kill -TERM $child 2>/dev/null' TERM; while kill -0 $child 2>/dev/null; do wait $child; done",
    )
    text = "\n".join(lines) + "\n"
    if len(text.encode()) > MOST:
        raise InvalidRequest(
            f"user data of {len(text.encode())} bytes is more than EC2's {MOST}", hint="a shorter path"
        )
    return text
