"""Finds what AWS's real toolkit needs on this machine: the toolkit itself, and namespaces for hosts."""

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
    """Return the environment that `make toolkit` has made; raise LocalCloudError where there is none.

    It lies beside the environment that we run in, or in the working folder.
    """
    for place in (Path(sys.prefix).parent / ".toolkit", Path.cwd() / ".toolkit"):
        if (place / "bin" / "train").exists():
            return place
    raise LocalCloudError("AWS's training toolkit is not installed: `make toolkit` does that")


def programs(python: Path, path: str) -> str:
    """Return a PATH that finds the programs of an environment first, and the administrator's too."""
    return os.pathsep.join((str(python / "bin"), path, "/usr/sbin", "/sbin"))


def refusal(python: Path) -> str:
    """Try to start a host as a container. Return why that cannot be done here; empty when it worked."""
    path = programs(python, os.environ.get("PATH", os.defpath))
    for program, package in _NEEDED:
        if shutil.which(program, path=path) is None:
            return f"there is no `{program}` on this machine; install {package}"
    with tempfile.TemporaryDirectory(prefix="lc-") as folder, socket.socket(socket.AF_UNIX) as tunnel:
        base = Path(folder)
        tunnel.bind(str(base / "tunnel"))
        tunnel.listen()
        network = Network(address="10.77.0.1/16", port=80, tunnel=str(base / "tunnel"))
        layout = Layout(base=folder, python=str(python), addresses="", keys=folder, network=network)
        machine = Machine(
            name="algo-1",
            command=["true"],
            folder="/opt/ml",
            log=str(base / "log"),
            environment={"PATH": path},
            layout=layout,
        )
        return _failure(contained([machine], base / "hosts.json"), base / "log", path)


def _failure(command: list[str], log: Path, path: str) -> str:
    """Run a command; return why it failed, empty when it did not."""
    try:
        tried = subprocess.run(
            command, env={"PATH": path}, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "a first host did not start in time"
    if not tried.returncode:
        return ""
    printed = tried.stderr
    if log.exists():
        printed += log.read_text(errors="replace")
    return printed.strip().rpartition("\n")[2] or f"a first host ended with {tried.returncode}"
