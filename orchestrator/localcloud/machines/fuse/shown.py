"""The trees that hosts see as folders. A host mounts each for itself, and hands us the kernel's questions about it."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud.machines.fuse.answer import serve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.localcloud.machines.fuse.tree import Tree

log = logging.getLogger(__name__)

_LONGEST_PATH = 4096


class Shown:
    """A Unix socket that is open while the server runs. `mount.py` connects to it, once for each folder."""

    def __init__(self, path: Path) -> None:
        """Open the socket at `path`, whose name must be short."""
        self._path = path
        self._trees: dict[str, Tree] = {}
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.bind(str(path))
        self._socket.listen(512)
        threading.Thread(target=self._accept, name="shown", daemon=True).start()

    def show(self, tree: Tree, folder: Path) -> None:
        """Let a folder be the tree, for the command that `command` returns."""
        self._trees[str(folder)] = tree

    def command(self, folders: Iterable[Path]) -> list[str]:
        """Return the words that, put before a command, mount folders that are shown; none when there are no folders.

        The command must run in a mount namespace of its own, as root there.
        """
        named = [str(folder) for folder in folders]
        script = str(Path(__file__).with_name("mount.py"))
        return [sys.executable, "-I", "-S", script, str(self._path), *named, "--"] if named else []

    def _accept(self) -> None:
        while True:
            host, _ = self._socket.accept()
            with host:
                folder, handed, _, _ = socket.recv_fds(host, _LONGEST_PATH, 1)
            tree = self._trees.pop(os.fsdecode(folder), None)
            for device in handed:
                if tree is None:
                    os.close(device)
                else:
                    threading.Thread(target=_serve, args=(device, tree), name="shown", daemon=True).start()


def _serve(device: int, tree: Tree) -> None:
    """Serve one folder. What breaks there ends the folder, and nothing else."""
    try:
        serve(device, tree)
    except OSError:
        log.exception("a folder that was shown to a training broke")
