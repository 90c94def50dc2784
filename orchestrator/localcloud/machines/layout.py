"""Lays out one host of a training as a container, then becomes its PID 1. Standard library only; a script of its own.

    layout.py FILE NAME: a training's hosts, as `machine.contained` writes them, and which of them this is

It runs in namespaces of its own. The container gets /opt/ml, folders to which it may write unseen, a name, a network.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_PID1 = str(Path(__file__).with_name("pid1.py"))
_BIND = 0x1000 | 0x4000  # MS_BIND, MS_REC
_STORE = Path("/run")
"""A tmpfs of the container's, which holds what the container writes outside /opt/ml."""

_HOME = Path("/", "root")
"""The superuser's home, where ssh looks for keys: a container runs as the superuser only."""

SSHD = """\
HostKey /etc/ssh/key
AuthorizedKeysFile /etc/ssh/key.pub
StrictModes no
UsePAM yes
"""
SSH = """\
IdentityFile /etc/ssh/key
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
"""
PAM = """\
account required pam_permit.so
session required pam_env.so
"""


def lay_out(name: str, layout: dict[str, Any]) -> None:
    """Make this process's namespaces the container that a `machine.Layout` describes.

    The socket and the keys lie in folders that get new contents, so they are opened and read before.
    """
    network = layout["network"]
    tunnel = socket.socket(socket.AF_UNIX)
    if network and network["tunnel"]:
        tunnel.connect(network["tunnel"])
    keys = {file.name: file.read_bytes() for file in Path(layout["keys"]).glob("key*")} if network else {}
    _mount("tmpfs", "/dev/shm", "tmpfs")
    _mount("tmpfs", str(_STORE), "tmpfs")
    _shadow("/opt", {"ml": None})
    Path("/opt/ml").mkdir()
    _mount(layout["base"], "/opt/ml", flags=_BIND)
    _overlay(layout["python"])
    socket.sethostname(name)
    _shadow("/etc", {"hosts": layout["addresses"], "environment": ""})
    if network:
        _log_in_with(keys)
        _connect(network)
        if network["tunnel"]:
            _hand_out(network["port"], tunnel)
    _shadow("/tmp", {})


def _log_in_with(keys: dict[str, bytes]) -> None:
    """Give this host the one key that all hosts of the training log in with, and accept it."""
    (_STORE / "sshd").mkdir(mode=0o755)
    _shadow("/etc/pam.d", {"sshd": PAM})
    _shadow("/etc/ssh", {"sshd_config": SSHD, "ssh_config": SSH})
    _shadow(str(_HOME), {".ssh": None})
    (_HOME / ".ssh").mkdir(mode=0o700)
    for name, body in keys.items():
        for file in (Path("/etc/ssh", name), _HOME / ".ssh" / name.replace("key", "id_ed25519")):
            file.touch(mode=0o600)
            file.write_bytes(body)


# Mounts


def _mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()):
        number = ctypes.get_errno()
        raise OSError(number, f"mount: {os.strerror(number)}", target)


def _shadow(folder: str, ours: dict[str, str | None]) -> None:
    """Replace a folder by one with the same entries, to which others can be added unseen.

    `ours` are files to write into it, or, with None, entries to leave out.
    """
    copy = Path(tempfile.mkdtemp(dir=_STORE))
    for entry in _entries(folder):
        if entry.name not in ours:
            _show(entry, copy / entry.name)
    for name, text in ours.items():
        if text is not None:
            (copy / name).write_text(text)
    copy.chmod(0o1777 if folder == "/tmp" else 0o755)
    _mount(str(copy), folder, flags=_BIND)


def _show(entry: os.DirEntry[str], target: Path) -> None:
    """Let an entry of a folder appear at another path, too."""
    with contextlib.suppress(FileNotFoundError):  # it has just gone
        if entry.is_symlink():
            target.symlink_to(Path(entry.path).readlink())
            return
        if entry.is_dir():
            target.mkdir()
        else:
            target.touch()
        _mount(entry.path, str(target), flags=_BIND)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except PermissionError:  # root's own, and we are only root in here
        return []


def _overlay(folder: str) -> None:
    """Keep what is written into a folder apart: whatever is installed there is installed for this host alone."""
    upper, work = _STORE / "upper", _STORE / "work"
    upper.mkdir()
    work.mkdir()
    options = f"lowerdir={folder},upperdir={upper},workdir={work}"
    try:
        _mount("overlay", folder, "overlay", data=options)
    except PermissionError:  # in a user's namespace
        _mount("overlay", folder, "overlay", data=f"{options},userxattr")


# Network


def _connect(network: dict[str, Any]) -> None:
    """Wait for eth0, which `hosts.py` gives us, and set the network up."""
    while "eth0" not in {name for _, name in socket.if_nameindex()}:
        time.sleep(0.005)
    orders = f"link set lo up\naddress add {network['address']} dev eth0\nlink set eth0 up\n"
    subprocess.run(["ip", "-batch", "-"], input=orders, text=True, check=True)


def _hand_out(port: int, tunnel: socket.socket) -> None:
    """Let the cloud's address lead to the cloud in here, too: hand each connection to it out through the tunnel."""
    listener = socket.create_server(("127.0.0.1", port), backlog=512)
    if os.fork():
        return
    while True:
        connection, _ = listener.accept()
        socket.send_fds(tunnel, [b"c"], [connection.fileno()])
        connection.close()


def main(file: str, name: str) -> None:
    """Lay out the host of this name, and become its PID 1."""
    host = next(host for host in json.loads(Path(file).read_text())["hosts"] if host["name"] == name)
    lay_out(name, host["layout"])
    os.chdir(host["folder"])
    os.execv(sys.executable, [sys.executable, "-I", "-S", _PID1, *host["command"]])


if __name__ == "__main__":
    main(*sys.argv[1:3])
