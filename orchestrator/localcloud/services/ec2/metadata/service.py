"""An instance's metadata service: an HTTP server at the instance's own address, on a port of its own."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.ec2.metadata.owner import is_ours
from orchestrator.localcloud.services.ec2.metadata.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable

_LASTS = "X-aws-ec2-metadata-token-ttl-seconds"
_TOKEN = "X-aws-ec2-metadata-token"
_FORWARDED = "X-Forwarded-For"
_REAL = "169.254.169.254"
"""The address on AWS. Whoever has a network of its own, in which that leads here, asks by it."""
_VERSIONS = ("2009-04-04", "2016-09-02", "2021-03-23", "latest")
"""The versions of the categories that are told; older ones have fewer on AWS."""
_VERSION = re.compile(r"/(latest|\d{4}-\d\d-\d\d)/")
POWER = "/local/power"
"""The path at which `shutdown` and `systemd-run` tell what is to happen. AWS has no such path."""


@dataclass(frozen=True)
class Told:
    """What a metadata service takes from its instance."""

    options: dict[str, Any]
    """The instance's metadata options."""
    look_up: Callable[[str], str | None]
    """Returns what is at a path below /latest."""
    power: Callable[[dict[str, Any]], str]
    """Does what one of the instance's programs was called for, and returns what that prints."""
    now: Callable[[], float]


class MetadataService:
    """Listens until it is closed. Each connection has a thread, which ends with the connection."""

    def __init__(self, address: str, told: Told) -> None:
        """Listen at an address, on any free port."""
        self.told = told
        self.tokens = Tokens(told.now)
        self._socket = socket.create_server((address, 0), backlog=128)
        self.address: tuple[str, int] = self._socket.getsockname()
        threading.Thread(target=self._accept, name=f"metadata {address}", daemon=True).start()

    @property
    def url(self) -> str:
        """The address by which the instance's programs reach it."""
        return f"http://{self.address[0]}:{self.address[1]}"

    def close(self) -> None:
        """Listen no more."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, peer = self._socket.accept()
            except OSError:  # it is closed
                return
            threading.Thread(target=self._serve, args=(connection, peer), name="metadata", daemon=True).start()

    def _serve(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        with connection:
            if is_ours(peer, self.address):
                with contextlib.suppress(OSError):  # who asked may be gone, as after `shutdown`
                    _Handler(connection, peer, self)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """Reads the requests of one connection, and writes their answers."""

    protocol_version = "HTTP/1.1"
    server_version = "EC2ws"
    timeout = 60
    server: MetadataService  # type: ignore[assignment]

    def do_GET(self) -> None:
        path = self._path()
        if path is None:
            return
        if not self._is_known(self.headers.get(_TOKEN)):
            self._answer(401)
        elif (found := self.server.told.look_up(_VERSION.sub("/", path))) is None:
            self._answer(404)
        else:
            self._answer(200, found)

    def do_PUT(self) -> None:
        path = self._path()
        if path is None:
            return
        if path != "/latest/api/token":
            self._answer(404)
        elif _FORWARDED in self.headers:
            self._answer(403)
        elif (token := self.server.tokens.new(self.headers.get(_LASTS, ""))) is None:
            self._answer(400)
        else:
            hops = self.server.told.options["HttpPutResponseHopLimit"]
            self.connection.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
            self._answer(200, token, {_LASTS: self.headers[_LASTS]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != POWER or not self._is_for_us():
            self._answer(405)
        else:
            self._answer(200, self.server.told.power(json.loads(body)))

    def _path(self) -> str | None:
        """Return the path of a request that may be answered; else refuse it."""
        if not self._is_for_us() or self.server.told.options["HttpEndpoint"] == "disabled":
            self._answer(403)
            return None
        if self.path == "/":
            self._answer(200, "\n".join(_VERSIONS))
            return None
        if not _VERSION.match(self.path):
            self._answer(404)
            return None
        return self.path

    def _is_known(self, token: str | None) -> bool:
        """Return whether a request brings a good token; version 1 brings none, where that will do."""
        if token is None:
            return bool(self.server.told.options["HttpTokens"] != "required")
        return self.server.tokens.is_good(token)

    def _is_for_us(self) -> bool:
        """Return whether a request names this address: a browser that was led here by another name does not."""
        host, port = self.server.address
        return self.headers.get("Host") in (f"{host}:{port}", host, _REAL)

    def _answer(self, status: int, text: str = "", headers: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the server's log is for what goes wrong."""
