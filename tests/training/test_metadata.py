"""A session with an instance's metadata service: one token for many questions, and another when that has ended."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.training import metadata
from orchestrator.training.metadata import METADATA, read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator


class Service(BaseHTTPRequestHandler):
    """Gives tokens that are numbered, and answers whoever brings the newest; `known` is False when it knows none."""

    given = 0
    known = True

    def do_PUT(self) -> None:
        type(self).given += 1
        self._answer(200, f"token-{self.given}")

    def do_GET(self) -> None:
        if not self.known or self.headers.get("X-aws-ec2-metadata-token") != f"token-{self.given}":
            self._answer(401)
        elif self.path == "/latest/meta-data/instance-id":
            self._answer(200, "i-1")
        else:
            self._answer(404)

    def _answer(self, code: int, text: str = "") -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Service]]:
    handler = type("OneTest", (Service,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv(METADATA, f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setattr(metadata, "_tokens", {})
        yield handler
        server.shutdown()


def test_many_questions_need_one_token(service: type[Service]) -> None:
    answers = [read_metadata("meta-data/instance-id"), read_metadata("meta-data/spot/instance-action")]
    assert (answers, service.given) == (["i-1", None], 1)


def test_a_token_that_has_ended_is_replaced(service: type[Service], monkeypatch: pytest.MonkeyPatch) -> None:
    read_metadata("meta-data/instance-id")
    monkeypatch.setattr(metadata.time, "monotonic", lambda: 1e12)
    assert (read_metadata("meta-data/instance-id"), service.given) == ("i-1", 2)


def test_a_token_that_is_not_known_any_more_is_replaced(service: type[Service]) -> None:
    read_metadata("meta-data/instance-id")
    service.given += 1  # as if it had been given out to somebody else since
    assert (read_metadata("meta-data/instance-id"), service.given) == ("i-1", 3)


def test_a_service_that_knows_no_token_is_not_asked_for_ever(service: type[Service]) -> None:
    service.known = False
    with pytest.raises(OSError, match="401"):
        read_metadata("meta-data/instance-id")
    assert service.given == 1


def test_a_service_that_gives_no_token_in_time_is_told_with_what_may_be_the_reason(
    service: type[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token's answer that has to make one hop more than the limit is lost on its way: nothing comes."""
    done = threading.Event()
    monkeypatch.setattr(service, "do_PUT", lambda _: done.wait(60))
    monkeypatch.setattr(metadata, "_TIMEOUT_S", 0.05)
    with pytest.raises(OSError, match=r"gives no token: timed out; in a container, .*HttpPutResponseHopLimit"):
        read_metadata("meta-data/instance-id")
    done.set()


def test_a_service_that_is_switched_off_is_told(service: type[Service], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "do_PUT", lambda self: self._answer(403))
    with pytest.raises(OSError, match=r"refuses a token: .* 403.*HttpEndpoint"):
        read_metadata("meta-data/instance-id")


def test_an_answer_that_breaks_off_is_an_error_like_any_other(
    service: type[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metadata service may be closing: whoever asks handles OSError, and nothing else."""

    def break_off(self: Service) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "99")
        self.end_headers()
        self.close_connection = True

    monkeypatch.setattr(service, "do_GET", break_off)
    with pytest.raises(OSError, match="broken off"):
        read_metadata("meta-data/instance-id")
