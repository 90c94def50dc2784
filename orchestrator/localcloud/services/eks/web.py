"""Serves a cluster's API over TLS, on a port of its own."""

from __future__ import annotations

import json
import logging
import socket
import ssl
import struct
import threading
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import RESET, Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

log = logging.getLogger(__name__)

_HANDSHAKE_S = 10.0


def _nothing() -> Generator[bytes, None, None]:
    yield from ()


@dataclass(frozen=True)
class Stream(Answer):
    """An answer that comes in pieces, as long as somebody is there. An empty piece is not sent."""

    open: Callable[[], Generator[bytes, None, None]] = _nothing


class Handler(BaseHTTPRequestHandler):
    """Reads the requests of one connection, and writes their answers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def setup(self) -> None:
        """Shake hands in the connection's own thread: whoever does not shake keeps nobody else waiting."""
        self.request.settimeout(_HANDSHAKE_S)
        self.request = self.server.context.wrap_socket(self.request, server_side=True)
        self.request.settimeout(None)
        super().setup()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.server.answer(self, body)
        if answer is RESET:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if isinstance(answer, Stream):
            self._send_pieces(answer)
            return
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()

    def _send_pieces(self, answer: Stream) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with closing(answer.open()) as pieces:
            for piece in pieces:
                if piece:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                elif self._has_left():
                    self.close_connection = True
                    return
        self.wfile.write(b"0\r\n\r\n")

    def _has_left(self) -> bool:
        """Say whether the client has gone. Nobody speaks while an answer comes, but to say good-bye."""
        self.connection.settimeout(0)
        try:
            self.connection.recv(1)
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(None)
        return True

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the moment as a header has it: by the cloud's clock, as all that the API tells."""
        return super().date_time_string(self.server.now() if timestamp is None else timestamp)

    def log_message(self, format: str, *words: Any) -> None:  # noqa: A002
        log.debug(format, *words)


class Server(ThreadingHTTPServer):
    """A server on this machine only."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, context: ssl.SSLContext, answer: Callable[[Handler, bytes], Answer], now: Callable[[], float]
    ) -> None:
        """Listen on any free port, and serve from now on. `now` returns the cloud's time."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.context = context
        self.now = now
        self.answer = answer
        threading.Thread(target=self.serve_forever, args=(3600,), name="kubernetes", daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Pass over what ends a connection before it has begun: it is the client's to wonder."""
        log.debug("a connection of %s broke", client_address, exc_info=True)


def document(status: int, value: Any) -> tuple[int, bytes, dict[str, str]]:
    """Return the parts of an answer: a document as JSON, a text as it is."""
    if isinstance(value, str):
        return status, value.encode(), {"Content-Type": "text/plain"}
    return status, json.dumps(value).encode(), {"Content-Type": "application/json"}
