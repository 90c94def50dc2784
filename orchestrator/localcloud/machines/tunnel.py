"""The way from a training's own network to this cloud: its connections are handed to us through a Unix socket."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.localcloud.http.web import Server


class Tunnel:
    """Opened once; every host in a network of its own knocks with a connection of its own."""

    def __init__(self, path: Path, server: Server) -> None:
        self.path = path
        self.port = server.port
        self._server = server
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._let_in, name="door", daemon=True).start()

    def _let_in(self) -> None:
        while True:
            host, _ = self._socket.accept()
            threading.Thread(target=self._serve, args=(host,), name="door", daemon=True).start()

    def _serve(self, host: socket.socket) -> None:
        """Until the host is gone."""
        with host:
            while True:
                said, handed, _, _ = socket.recv_fds(host, 1, 1)
                if not said:
                    return
                connection = socket.socket(fileno=handed[0])
                self._server.process_request(connection, connection.getpeername())
