"""User data: what an instance does when it boots. It ends the instance, whatever happens.

The watchdogs come first, so that nothing that hangs later keeps the instance. The stub fetches the rest from S3.
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
ALLOWANCE_S = 900
"""Seconds that an instance is paid for beyond its training's longest run, at the most: it boots, its script has a grace
after SIGTERM, the model goes to S3, and it shuts down. Envelopes count them."""
_SHUTDOWN_S = 180
"""The part of the allowance that is for launching and shutting down: systemd itself gives processes 90 s to end."""
_LAUNCH_S = 30
"""The part of it before an instance boots. Its clock begins then."""
_SHUTDOWN = "shutdown -h now"
_POWER_OFF = "poweroff -ff"
_TO_THE_END = "--timer-property=DefaultDependencies=no --property=DefaultDependencies=no"
"""What keeps a timer while the system shuts down."""


def paid_s(max_runtime_s: int, allowance_s: int | None) -> int:
    """Return the seconds for which an instance is paid at the most."""
    return max_runtime_s + (ALLOWANCE_S if allowance_s is None else allowance_s)


def watchdog_s(max_runtime_s: int, allowance_s: int | None) -> int:
    """Return the seconds from its boot after which an instance shuts down, whatever hangs."""
    return max(paid_s(max_runtime_s, allowance_s) - _SHUTDOWN_S, 1)


def make_user_data(assignment: Assignment, uri: str, digest: str, allowance_s: int | None = None) -> str:
    """Return the script for an assignment that lies at this address, with this digest.

    Raise InvalidRequest when it is longer than EC2 takes.
    """
    shuts_down_s = watchdog_s(assignment.max_runtime_s, allowance_s)
    is_off_s = max(paid_s(assignment.max_runtime_s, allowance_s) - _LAUNCH_S, 1)
    arguments = " ".join(map(shlex.quote, (assignment.sources, uri, digest)))
    lines = (
        "#!/bin/bash",
        f"systemd-run --on-boot={shuts_down_s}s {_SHUTDOWN} || (sleep {shuts_down_s}; {_SHUTDOWN}) &",
        f"systemd-run --on-boot={is_off_s}s {_TO_THE_END} {_POWER_OFF} || (sleep {is_off_s}; {_POWER_OFF}) &",
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
