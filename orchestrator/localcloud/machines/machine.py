"""The hosts of one training, as `hosts.py` and `layout.py` read them from a file, and the command that starts them."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
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
    address: str
    """Of the host's eth0, with the length of its prefix."""
    port: int
    """Where the cloud answers, in there as out here."""
    door: str
    """A Unix socket that takes connections to it."""


@dataclass(frozen=True)
class Layout:
    base: str
    """Is /opt/ml."""
    python: str
    """What is installed into this environment is installed for this host alone."""
    addresses: str
    """Is /etc/hosts."""
    keys: str = ""
    """A folder with the key that all hosts of the training know."""
    network: Network | None = None


@dataclass(frozen=True)
class Machine:
    name: str
    command: list[str]
    folder: str
    """Where the command runs."""
    log: str
    environment: Mapping[str, str]
    layout: Layout


def plain(command: list[str]) -> list[str]:
    """The command that starts one host that is no container."""
    return [*_PYTHON, str(_SCRIPTS / "pid1.py"), *command]


def contained(machines: list[Machine], file: Path) -> list[str]:
    """The command that starts all, and ends with them. Who is not root is root in a user namespace."""
    network = ["--net"] if any(each.layout.network for each in machines) else []
    ours = [*([] if IS_ROOT else ["--user", "--map-root-user"]), *network]
    plan = {
        "unshare": ["unshare", *_NAMESPACES, *network],
        "network": bool(network),
        "hosts": [asdict(machine) for machine in machines],
    }
    file.write_text(json.dumps(plan))
    return [*(["unshare", *ours] if ours else []), *_PYTHON, str(_SCRIPTS / "hosts.py"), str(file)]
