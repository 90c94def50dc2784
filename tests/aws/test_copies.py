"""Objects copied into another bucket, in another Region: small ones at once, large ones in parts that stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws import copies
from orchestrator.aws.copies import Target, arrived_bytes, copy_object
from orchestrator.aws.s3 import S3, Listed
from orchestrator.errors import AlreadyExists, NotFound, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.session import Clients

MIB = 2**20
LEAST_PART = 5 * MIB
"""S3 takes no smaller parts, but for the last."""


class Noted:
    """Uploads in memory."""

    def __init__(self) -> None:
        self.uploads: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        return self.uploads.get(key)

    def note(self, key: str, upload: str) -> str:
        return self.uploads.setdefault(key, upload)


class Counting:
    """Clients that count the calls of S3 by name; `before` is called at each."""

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self.calls: list[str] = []
        self.conditions: list[tuple[str, str | None, str | None]] = []
        """The etags that each call asks the source to have, and the target."""
        self.before: Callable[[str], None] = lambda _: None

    def client(self, service: str, region: str) -> Any:
        real, spy = self.clients.client(service, region), self

        class Client:
            def __getattr__(self, name: str) -> Any:
                spy.calls.append(name)
                spy.before(name)
                call = getattr(real, name)
                return call if name.startswith("get_") else lambda **given: self._send(name, call, given)

            def _send(self, name: str, call: Callable[..., Any], given: dict[str, Any]) -> Any:
                spy.conditions.append((name, given.get("CopySourceIfMatch"), given.get("IfMatch")))
                return call(**given)

        return Client()


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "PART_BYTES", LEAST_PART)
    monkeypatch.setattr(copies, "AT_ONCE", 1)


@pytest.fixture
def counting(clients: Clients) -> Counting:
    return Counting(clients)


@pytest.fixture
def target(counting: Counting, clients: Clients) -> S3:
    made = clients.client("s3", "eu-west-1")
    made.create_bucket(Bucket="there", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    return S3(counting, "eu-west-1", "there")  # type: ignore[arg-type]


def put(s3: S3, body: bytes) -> Listed:
    s3.put_once("from/state", body)
    return next(s3.list("from/"))


def always() -> bool:
    return True


def test_a_small_object_is_copied_by_one_call(s3: S3, target: S3, counting: Counting) -> None:
    item = put(s3, b"small")
    assert copy_object(s3, item, Target(target, "to/state"), Noted(), always)
    assert target.get("to/state").body == b"small"
    assert counting.calls.count("copy_object") == 1


def test_a_large_object_is_copied_in_parts(s3: S3, target: S3, counting: Counting) -> None:
    body = bytes(range(256)) * (2 * LEAST_PART // 256) + b"the end"
    item = put(s3, body)
    assert copy_object(s3, item, Target(target, "to/state"), Noted(), always)
    assert target.get("to/state").body == body
    assert counting.calls.count("upload_part_copy") == 3


def test_parts_that_have_arrived_stay_when_the_copy_is_broken_off(s3: S3, target: S3, counting: Counting) -> None:
    body = b"1" * LEAST_PART + b"2" * LEAST_PART + b"3"
    item, noted, answers = put(s3, body), Noted(), iter([True, True, False])
    assert not copy_object(s3, item, Target(target, "to/state"), noted, lambda: next(answers))
    assert not target.exists("to/state")
    to, (upload,) = Target(target, "to/state"), noted.uploads.values()
    assert arrived_bytes(to, upload) == 2 * LEAST_PART
    counting.calls.clear()
    assert copy_object(s3, item, Target(target, "to/state"), noted, always)
    assert target.get("to/state").body == body
    assert (counting.calls.count("upload_part_copy"), counting.calls.count("create_multipart_upload")) == (1, 0)
    assert arrived_bytes(to, upload) == 0, "it is complete: what has arrived is the object"


@pytest.mark.parametrize("call", ["create_multipart_upload", "upload_part_copy", "complete_multipart_upload"])
def test_whoever_is_killed_at_any_call_is_followed_by_one_who_ends_it(
    s3: S3, target: S3, counting: Counting, call: str
) -> None:
    body = b"1" * LEAST_PART + b"2"
    item, noted = put(s3, body), Noted()

    def kill(name: str) -> None:
        if name == call:
            raise Unreachable("killed")

    counting.before = kill
    with pytest.raises(Unreachable):
        copy_object(s3, item, Target(target, "to/state"), noted, always)
    assert not target.exists("to/state")
    counting.before = lambda _: None
    assert copy_object(s3, item, Target(target, "to/state"), noted, always)
    assert target.get("to/state").body == body


def test_what_another_launcher_has_completed_is_there(s3: S3, target: S3) -> None:
    item, noted = put(s3, b"1" * LEAST_PART + b"2"), Noted()
    assert copy_object(s3, item, Target(target, "to/state"), noted, always)
    assert copy_object(
        s3, item, Target(target, "to/state"), noted, always
    )  # its upload is gone, and the object is there
    target.delete("to/state")
    with pytest.raises(NotFound):
        copy_object(s3, item, Target(target, "to/state"), noted, always)


def test_only_what_was_listed_is_copied_and_over_nothing_else(s3: S3, target: S3, counting: Counting) -> None:
    # moto looks at none of these conditions of copies. S3 answers PreconditionFailed, which is AlreadyExists.
    for body in (b"small", b"1" * LEAST_PART + b"2"):
        s3.delete("from/state")
        target.delete("to/state")
        item = put(s3, body)
        before = target.put_if("to/state", b"older", None)
        counting.conditions.clear()
        assert copy_object(s3, item, Target(target, "to/state", over=before), Noted(), always)
        assert {source for name, source, _ in counting.conditions if "copy" in name} == {item.etag}
        asked = [over for name, _, over in counting.conditions if name in {"copy_object", "complete_multipart_upload"}]
        assert asked == [before]
    with pytest.raises(AlreadyExists):
        copy_object(s3, item, Target(target, "to/state"), Noted(), always)
