"""The place of a machine among those of its training: which one it is, and where the others find it.

It travels into the training: standard library only.
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orchestrator.training.aws_call import endpoint
from orchestrator.training.metadata import read_metadata
from orchestrator.training.process import write_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.training.bare.assignment import Assignment

_FACTS = {
    "instance": "instance-id",
    "zone": "placement/availability-zone",
    "type": "instance-type",
    "bought": "instance-life-cycle",
}
"""What EC2 tells an instance of itself, below meta-data/."""


_TRIES, _BETWEEN_S = 10, 2.0


class NoPlace(Exception):
    """A machine that cannot know which one it is."""


@dataclass(frozen=True)
class Place:
    """Which machine this is, and what is told of it."""

    index: int
    address: str
    interface: str
    """The network interface by which the others reach it."""
    facts: dict[str, str]
    """What its platform says of it, such as its id; for whoever reads the outcome."""


def find_place(assignment: Assignment, environ: Mapping[str, str]) -> Place:
    """Return this machine's place. Raise NoPlace or OSError when it cannot be known."""
    on_ec2 = assignment.kind == "instance"
    index = environ.get("SWEEP_INDEX") or environ.get("JOB_COMPLETION_INDEX")
    if index is None and on_ec2:
        index = _told("ami-launch-index")
    if index is None or not index.isdigit() or int(index) >= assignment.instances:
        raise NoPlace(f"machine {index} of {assignment.instances}: SWEEP_INDEX says which one it is, from 0")
    address = environ.get("SWEEP_ADDRESS")
    if not address and on_ec2:
        address = _told("local-ipv4")
    address = address or _address_out(endpoint("s3", assignment.region, environ))
    facts = dict(_facts()) if on_ec2 else {}
    return Place(int(index), address, _interface(address), facts)


def _facts() -> Iterator[tuple[str, str]]:
    """Yield what EC2 tells of this instance. It trains without that, too: nothing is waited for."""
    for name, path in _FACTS.items():
        try:
            told = read_metadata(f"meta-data/{path}")
        except OSError as error:
            write_line(f"sweep: the instance's metadata does not tell its {name}: {error}")
            continue
        if told:
            yield name, told


def _told(path: str) -> str | None:
    """Return what EC2 tells of this instance. A service that is busy while it boots is asked again."""
    for left in reversed(range(_TRIES)):
        try:
            return read_metadata(f"meta-data/{path}")
        except OSError:
            if not left:
                raise
            time.sleep(_BETWEEN_S)
    raise AssertionError("the last try returns or raises")


def _address_out(url: str) -> str:
    """Return this machine's address on the way to a server. Nothing is sent."""
    parts = urlsplit(url)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect((parts.hostname or "127.0.0.1", parts.port or 443))
        return str(asked.getsockname()[0])


def _interface(address: str) -> str:
    """Return the interface that packets from elsewhere come by: that of the default route, or of this machine alone."""
    if address.startswith("127."):
        return "lo"
    routes = Path("/proc/net/route")
    lines = [line.split() for line in routes.read_text().splitlines()[1:]] if routes.exists() else []
    default = struct.pack("=L", 0).hex().upper()
    return next((line[0] for line in lines if line[1] == default), "eth0")
