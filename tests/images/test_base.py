"""Bases are read from registries and from files, and whatever is damaged or of another machine is refused."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar

import pytest

from orchestrator.errors import CloudError, SweepError, UsageError
from orchestrator.images import registry
from orchestrator.images.base import read_base
from orchestrator.images.layer import digest_of
from orchestrator.images.layout import Layout
from orchestrator.images.registry import Registry
from tests.images.parts import a_base, write_tar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.localcloud import LocalCloud


def test_a_base_comes_from_a_registry_that_gives_everybody_a_token(cloud: LocalCloud, tmp_path: Path) -> None:
    base = read_base(Registry(f"{cloud.endpoint}/docker/library/python:slim"))
    assert base.python
    (layer,) = base.manifest["layers"]
    base.source.save(layer["digest"], tmp_path / "layer")
    assert digest_of((tmp_path / "layer").read_bytes()) == layer["digest"]


def test_a_name_that_a_registry_does_not_have_is_told(cloud: LocalCloud) -> None:
    with pytest.raises(CloudError, match=r"there is no image .*python:9 "):
        read_base(Registry(f"{cloud.endpoint}/docker/library/python:9"))


def test_a_base_comes_from_a_file(tmp_path: Path) -> None:
    base = read_base(Layout(write_tar(tmp_path / "base.tar", a_base())))
    assert base.python == "3.1.0"
    (layer,) = base.manifest["layers"]
    base.source.save(layer["digest"], tmp_path / "layer")
    assert (tmp_path / "layer").read_bytes() == b"a layer"


def damaged() -> dict[str, bytes]:
    files = a_base()
    return {name: data + b" " if name.startswith("blobs") else data for name, data in files.items()}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "it has no index.json"),
        ({"index.json": b"["}, "not an image"),
        ({"index.json": b"7"}, "its manifest is no JSON object"),
        ({"index.json": b"{}"}, "it has neither configuration nor layers"),
        ({"index.json": a_base()["index.json"]}, "it has no blobs/sha256/"),
        (a_base("arm64"), "it has no image for linux/amd64"),
        (damaged(), "it is damaged: sha256:"),
    ],
)
def test_a_file_that_is_no_image_for_launchers_is_refused_in_one_line(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read_base(Layout(write_tar(tmp_path / "base.tar", files)))
    assert message in str(caught.value)
    assert str(tmp_path / "base.tar") in str(caught.value)


def test_a_file_that_is_no_tar_is_refused(tmp_path: Path) -> None:
    (tmp_path / "base.tar").write_text("no tar")
    with pytest.raises(UsageError, match="not an OCI layout"):
        Layout(tmp_path / "base.tar")


@pytest.mark.parametrize("name", ["python", "UPPER/case", "", "ftp://a/b"])
def test_a_name_without_its_registry_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not an image with its registry"):
        Registry(name)


class Odd(BaseHTTPRequestHandler):
    """A registry that fails first, sends people elsewhere, and keeps one damaged blob."""

    failures = 0
    seen: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        Odd.seen.append((self.path, self.headers.get("Authorization", "")))
        if Odd.failures:
            Odd.failures -= 1
            self.answer(503)
        elif self.path.startswith("/token"):
            self.answer(200, b'{"access_token": "t"}')
        elif self.path == "/elsewhere":
            self.answer(200, b"a layer")
        elif "Authorization" not in self.headers:
            self.answer(401, headers={"WWW-Authenticate": f'Bearer realm="http://{self.headers["Host"]}/token"'})
        elif self.path.endswith(digest_of(b"a layer")):
            self.answer(307, headers={"Location": "/elsewhere"})
        elif "sha256:" in self.path:
            self.answer(200, b"something else")
        else:
            self.answer(403)

    def answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr(registry, "sleep", lambda _: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Registry(f"http://127.0.0.1:{server.server_address[1]}/some/image:1")
    server.shutdown()
    server.server_close()


def test_a_registry_that_fails_is_asked_again_and_its_token_goes_nowhere_else(odd: Registry, tmp_path: Path) -> None:
    Odd.failures = 1
    Odd.seen.clear()
    odd.save(digest_of(b"a layer"), tmp_path / "layer")
    assert (tmp_path / "layer").read_bytes() == b"a layer"
    assert ("/elsewhere", "") in Odd.seen
    assert any(sent == "Bearer t" for _, sent in Odd.seen)


def test_what_comes_damaged_or_not_at_all_is_told(odd: Registry, tmp_path: Path) -> None:
    for ask in (lambda: odd.read(digest_of(b"x")), lambda: odd.save(digest_of(b"x"), tmp_path / "layer")):
        with pytest.raises(CloudError, match="came damaged"):
            ask()
    with pytest.raises(CloudError, match=r"cannot be read: HTTP Error 403.*--base FILE"):
        odd.first()


def test_a_registry_out_of_reach_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "sleep", lambda _: None)
    with pytest.raises(SweepError, match="cannot be reached"):
        Registry("http://127.0.0.1:9/some/image:1").first()
