"""The way from a training's own network to this cloud: a host hands us its connections through a Unix socket."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.localcloud.http.web import Server


class Tunnel:
    """A Unix socket that is open while the server runs. Every host in a network of its own connects to it once."""

    def __init__(self, path: Path, server: Server) -> None:
        """Open the socket at `path`. Connections that come through it are served by `server`."""
        self.path = path
        self.port = server.port
        self._server = server
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._accept, name="tunnel", daemon=True).start()

    def _accept(self) -> None:
        while True:
            host, _ = self._socket.accept()
            threading.Thread(target=self._serve, args=(host,), name="tunnel", daemon=True).start()

    def _serve(self, host: socket.socket) -> None:
        """Serve the connections that a host hands us, until the host is gone."""
        with host:
            while True:
                sent, handed, _, _ = socket.recv_fds(host, 1, 1)
                if not sent:
                    return
                connection = socket.socket(fileno=handed[0])
                self._server.process_request(connection, connection.getpeername())
