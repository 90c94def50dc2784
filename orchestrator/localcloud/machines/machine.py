"""Describes the hosts of one training, for `hosts.py` and `layout.py` to read, and makes the command that starts them.

Both are scripts that cannot import this file. They read it as JSON, so a field that is renamed here is renamed there.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

IS_ROOT = os.geteuid() == 0

_PYTHON = [sys.executable, "-I", "-S"]
_SCRIPTS = Path(__file__).parent
_NAMESPACES = ["--fork", "--kill-child", "--pid", "--mount-proc", "--mount", "--uts", "--ipc"]


@dataclass(frozen=True)
class Network:
    """The network of a host that has one of its own."""

    address: str
    """The address of the host's eth0, with the length of its prefix."""
    port: int
    """The port at which the cloud answers, in the container as outside."""
    tunnel: str
    """The path of the Unix socket that takes connections to the cloud; empty for a host that is cut off from it."""


@dataclass(frozen=True)
class Layout:
    """What a container has in place of the machine's own files, name and network."""

    base: str
    """The folder that is /opt/ml in the container."""
    python: str
    """A Python environment; what is installed into it is installed for this host alone."""
    addresses: str
    """The contents of /etc/hosts."""
    keys: str = ""
    """A folder with the key that all hosts of the training know."""
    network: Network | None = None
    """None when the host is in this machine's network."""


@dataclass(frozen=True)
class Machine:
    """A host of a training: a container, and the command that runs in it."""

    name: str
    command: list[str]
    folder: str
    """The folder that the command runs in."""
    log: str
    environment: Mapping[str, str]
    layout: Layout
    within: list[str] = field(default_factory=list)
    """Words that mount the host's streamed channels, before it is laid out."""


def plain(command: list[str]) -> list[str]:
    """Return the command that starts one host that is no container."""
    return [*_PYTHON, str(_SCRIPTS / "pid1.py"), *command]


def contained(machines: list[Machine], file: Path) -> list[str]:
    """Write the hosts into a file, and return the command that starts them all and ends with them.

    Who is not root is root in a user namespace.
    """
    network = ["--net"] if any(each.layout.network for each in machines) else []
    description = {
        "unshare": ["unshare", *_NAMESPACES, *network],
        "network": bool(network),
        "hosts": [asdict(machine) for machine in machines],
    }
    file.write_text(json.dumps(description))
    start = [*_PYTHON, str(_SCRIPTS / "hosts.py"), str(file)]
    if IS_ROOT and not network:
        return start
    become_root = [] if IS_ROOT else ["--user", "--map-root-user"]
    return ["unshare", *become_root, *network, *start]
