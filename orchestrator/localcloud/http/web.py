"""The HTTP server: connections that stay open, answers in one piece.

werkzeug's own server closes every connection after one request, which costs a client three times the time.
"""

from __future__ import annotations

import io
import logging
import socket
import struct
from typing import TYPE_CHECKING, Any

from werkzeug.serving import ThreadedWSGIServer

from orchestrator.localcloud.http.answers import RESET
from orchestrator.localcloud.services.moto.backends import RequestHandler

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.http.answers import Answer

log = logging.getLogger(__name__)


class Handler(RequestHandler):
    """Reads the requests of one connection, and writes their answers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: Server

    def handle_expect_100(self) -> bool:
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.wfile.flush()
        return True

    def run_wsgi(self) -> None:
        """Answer one request. It is read to its end before, so that the next can follow on the same connection."""
        environ = self.make_environ()
        body = self._body(environ)
        environ.update(
            {"wsgi.input": io.BytesIO(body), "wsgi.input_terminated": True, "CONTENT_LENGTH": str(len(body))}
        )
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        self._write(self.server.answer(environ), head=environ["REQUEST_METHOD"] == "HEAD")

    def _body(self, environ: dict[str, Any]) -> bytes:
        if "HTTP_TRANSFER_ENCODING" in environ:
            return bytes(environ["wsgi.input"].read())
        return bytes(self.rfile.read(int(environ.get("CONTENT_LENGTH") or 0)))

    def _write(self, answer: Answer, *, head: bool) -> None:
        if answer is RESET:
            self._reset()
            return
        self.send_response(answer.status)
        names = {name.lower() for name in answer.headers}
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "content-length" not in names and answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if not head:
            self.wfile.write(answer.body)
        self.wfile.flush()

    def _reset(self) -> None:
        """Break the connection without a farewell, as when the other side, or the network, is gone."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        log.debug('"%s" %s %s', self.requestline, code, size)


class Server(ThreadedWSGIServer):
    """A server on this machine only, with a thread for each connection."""

    daemon_threads = True

    answer: Callable[[dict[str, Any]], Answer]
    """The function that answers a request, which WSGI describes. It is set before the first request is served."""

    def __init__(self, port: int) -> None:
        """Listen on a port; 0 is any free one. Raise OSError when that cannot be had."""
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(512)
            super().__init__("127.0.0.1", port, app=_no_wsgi, handler=Handler, fd=listener.fileno())


def _no_wsgi(*_: Any) -> Any:
    raise NotImplementedError("requests are answered by Server.answer")
