"""The notice that a machine is about to go: from signals, and from a metadata service as EC2's is."""

from __future__ import annotations

import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.training import notice
from orchestrator.training.checkpoint import UNFINISHED, Checkpoints
from orchestrator.training.metadata import METADATA
from orchestrator.training.notice import Notice, spot_action

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACTION = b'{"action": "terminate", "time": "2026-11-20T08:22:00Z"}'


def save(path: Path) -> None:
    path.write_text("state")


def load(path: Path) -> None:
    assert path.read_text() == "state"


class Metadata(BaseHTTPRequestHandler):
    """The instance's metadata service, version 2: nothing without a token."""

    answers: tuple[int, bytes] = (404, b"")

    def do_PUT(self) -> None:
        allowed = self.path == "/latest/api/token" and "X-aws-ec2-metadata-token-ttl-seconds" in self.headers
        self._answer(200 if allowed else 400, b"a-token")

    def do_GET(self) -> None:
        if self.headers.get("X-aws-ec2-metadata-token") != "a-token":
            self._answer(401, b"")
        elif self.path == "/latest/meta-data/spot/instance-action":
            self._answer(*type(self).answers)
        else:
            self._answer(404, b"")

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def metadata(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Metadata]]:
    handler = type("OneTest", (Metadata,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv(METADATA, f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setattr(notice, "_LOOK_EVERY_S", 0.01)
        yield handler
        server.shutdown()


def eventually(listening: Notice) -> str:
    for _ in range(1000):
        if listening.why:
            break
        time.sleep(0.01)
    return listening.why


@pytest.mark.usefixtures("metadata")
def test_an_instance_that_stays_has_no_spot_action() -> None:
    assert spot_action() is None


def test_an_instance_that_is_reclaimed_says_what_and_when(metadata: type[Metadata]) -> None:
    metadata.answers = (200, ACTION)
    assert spot_action() == {"action": "terminate", "time": "2026-11-20T08:22:00Z"}


def test_the_spot_notice_is_heard_while_the_training_runs(metadata: type[Metadata]) -> None:
    listening = Notice(on_ec2=True)
    listening.listen()
    try:
        assert listening.why == ""
        metadata.answers = (200, ACTION)
        assert eventually(listening) == "spot notice: terminate at 2026-11-20T08:22:00Z"
    finally:
        listening.close()


@pytest.mark.parametrize("answers", [(500, b""), (200, b"<html>")])
def test_metadata_that_cannot_be_read_is_said_once_and_asked_again(
    metadata: type[Metadata], answers: tuple[int, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    metadata.answers = answers
    listening = Notice(on_ec2=True)
    listening.listen()
    try:
        time.sleep(0.1)
        metadata.answers = (200, ACTION)
        assert eventually(listening)
    finally:
        listening.close()
    assert capsys.readouterr().out.count("no word from the instance's metadata") == 1


@pytest.mark.usefixtures("metadata")
def test_nobody_is_asked_unless_wanted() -> None:
    before = threading.active_count()
    listening = Notice()
    listening.listen()
    assert threading.active_count() == before
    listening.close()


def test_a_training_saves_and_leaves_when_its_spot_instance_is_reclaimed(
    metadata: type[Metadata], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoints = Checkpoints(save, load, folder=tmp_path, every_s=3600, on_ec2=True)

    def train() -> None:
        for step in checkpoints.steps(10_000):
            if step == 3:
                metadata.answers = (200, ACTION)
            time.sleep(0.01)

    with pytest.raises(SystemExit) as left:
        train()
    assert left.value.code == UNFINISHED
    assert "spot notice: terminate at 2026-11-20T08:22:00Z: step" in capsys.readouterr().out
    assert len(list(tmp_path.glob("slot-*"))) == 1


def test_a_handler_that_was_there_before_hears_sigterm_too() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        listening = Notice()
        listening.listen()
        os.kill(os.getpid(), signal.SIGTERM)
        assert (listening.why, heard) == ("SIGTERM", [signal.SIGTERM])
        listening.close()
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM] * 2
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.fixture
def at_first() -> Iterator[None]:
    """SIGTERM means what it means where nothing has listened yet, whatever ran before in this process."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_forked_helper_of_the_training_dies_of_sigterm_as_ever(at_first: None) -> None:  # noqa: ARG001
    """A pool's workers are ended by it."""
    listening = Notice()
    listening.listen()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"up")
        time.sleep(60)
        os._exit(0)
    os.read(reading, 2)
    os.kill(child, signal.SIGTERM)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM
    listening.close()


def test_another_thread_may_use_checkpoints_without_signals(tmp_path: Path) -> None:
    done: list[int] = []

    def train() -> None:
        done.extend(Checkpoints(save, load, folder=tmp_path).steps(3))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert done == [0, 1, 2]
    assert signal.getsignal(signal.SIGTERM) == before
