"""What this machine has for trainings under the toolkit: the toolkit itself, and room for hosts that are containers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.machines.machine import Layout, Machine, Network, contained

SSHD = Path("/usr/sbin/sshd")
_NEEDED = (("unshare", "util-linux"), ("ip", "iproute2"), ("ssh-keygen", "openssh-client"))
_PATIENCE_S = 20.0


def toolkit() -> Path:
    """What `make toolkit` has made: beside the environment that we run in, or here."""
    for place in (Path(sys.prefix).parent / ".toolkit", Path.cwd() / ".toolkit"):
        if (place / "bin" / "train").exists():
            return place
    raise LocalCloudError("AWS's training toolkit is not installed: `make toolkit` does that")


def programs(python: Path, path: str) -> str:
    """A PATH that finds those of an environment first, and the administrator's too."""
    return os.pathsep.join((str(python / "bin"), path, "/usr/sbin", "/sbin"))


def refusal(python: Path) -> str:
    """Why hosts cannot be containers here; empty when one just was."""
    path = programs(python, os.environ.get("PATH", os.defpath))
    for program, package in _NEEDED:
        if shutil.which(program, path=path) is None:
            return f"there is no `{program}` on this machine; install {package}"
    with tempfile.TemporaryDirectory(prefix="lc-") as folder, socket.socket(socket.AF_UNIX) as door:
        base = Path(folder)
        door.bind(str(base / "door"))
        door.listen()
        network = Network("10.77.0.1/16", 80, str(base / "door"))
        layout = Layout(folder, str(python), "", folder, network)
        machine = Machine("algo-1", ["true"], "/opt/ml", str(base / "log"), {"PATH": path}, layout)
        return _tried(contained([machine], base / "hosts.json"), base / "log", path)


def _tried(command: list[str], log: Path, path: str) -> str:
    try:
        tried = subprocess.run(
            command, env={"PATH": path}, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "a first host did not start in time"
    if not tried.returncode:
        return ""
    said = tried.stderr + (log.read_text(errors="replace") if log.exists() else "")
    return said.strip().rpartition("\n")[2] or f"a first host ended with {tried.returncode}"
