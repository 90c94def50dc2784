from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.aws import s3 as module
from orchestrator.aws.s3 import S3, Written
from orchestrator.errors import AccessDenied, AlreadyExists, NotFound
from orchestrator.localcloud.services.moto.backends import Objects

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients


class Scripted:
    """Clients whose S3 gives these answers to writes, one a call."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.calls: list[dict[str, Any]] = []

    def client(self, *_: str) -> Scripted:
        return self

    def put_object(self, **request: Any) -> dict[str, Any]:
        self.calls.append(request)
        answer = self.answers.pop(0)
        if answer == "written":
            date = {"date": "Sat, 21 Nov 2026 10:00:00 GMT"}
            return {"ETag": '"new"', "ResponseMetadata": {"HTTPHeaders": date}}
        raise ClientError({"Error": {"Code": answer}, "ResponseMetadata": {"HTTPStatusCode": 409}}, "PutObject")  # type: ignore[typeddict-item]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.time, "sleep", lambda _: None)


def test_the_first_write_of_a_key_wins_and_the_second_is_told(s3: S3) -> None:
    assert s3.put_once("a", b"first")
    assert not s3.put_once("a", b"second")
    assert s3.get("a").body == b"first"


def test_of_many_threads_writing_one_key_exactly_one_wins(s3: S3) -> None:
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: s3.put_once("race", b"%d" % n), range(16)))
    assert sum(won) == 1
    assert s3.get("race").body == b"%d" % won.index(True)


def test_a_lost_answer_makes_a_retried_write_find_its_own_object() -> None:
    assert S3(Scripted("PreconditionFailed"), "r", "b").put_once("k", b"") is False  # type: ignore[arg-type]


def test_a_write_that_met_another_one_at_the_same_moment_is_sent_again() -> None:
    clients = Scripted("ConditionalRequestConflict", "ConditionalRequestConflict", "written")
    assert S3(clients, "r", "b").put_once("k", b"body")  # type: ignore[arg-type]
    assert [call["IfNoneMatch"] for call in clients.calls] == ["*"] * 3


def test_endless_conflicts_are_given_up_as_there() -> None:
    clients = Scripted(*["ConditionalRequestConflict"] * module.CONFLICTS)
    assert S3(clients, "r", "b").put_once("k", b"") is False  # type: ignore[arg-type]
    assert clients.answers == []


def test_a_replacement_needs_the_etag_that_is_there(s3: S3) -> None:
    first = s3.put_if("a", b"1", None)
    second = s3.put_if("a", b"2", first)
    assert s3.get("a").etag == second
    with pytest.raises(AlreadyExists):
        s3.put_if("a", b"3", first)
    with pytest.raises(NotFound):
        s3.put_if("gone", b"3", first)


def test_a_range_is_read_and_what_lies_beyond_the_end_is_empty(s3: S3) -> None:
    s3.put_once("a", b"0123456789")
    assert s3.get_range("a", 2, 5) == b"234"
    assert s3.get_range("a", 8, 50) == b"89"
    assert s3.get_range("a", 10, 50) == b""


def test_a_listing_goes_over_every_page_and_tells_every_etag(s3: S3) -> None:
    objects = Objects()  # moto's own: through a client, so many take seconds
    for n in range(1003):
        objects.write(s3.bucket, f"p/{n:04}", b"")
    s3.put_once("q/0", b"")
    known = {item.key: item.etag for item in s3.list("p/")}
    assert len(known) == 1003
    s3.put_if("p/0007", b"changed", known["p/0007"])
    s3.put_once("p/new", b"")
    assert [item.key for item in s3.list("p/") if known.get(item.key) != item.etag] == ["p/0007", "p/new"]


def test_what_is_missing_is_named_in_one_line(s3: S3, clients: Clients) -> None:
    with pytest.raises(
        NotFound, match=r"^us-west-2 GetObject: could not read s3://control/x: NoSuchKey: .*\)$"
    ) as caught:
        s3.get("x")
    assert "\n" not in str(caught.value)
    with pytest.raises(NotFound, match="NoSuchBucket"):
        S3(clients, "us-west-2", "nowhere").put_once("x", b"")


def test_the_moment_of_a_write_is_told_by_the_clock_of_s3() -> None:
    written = S3(Scripted("written"), "r", "b").write("k", b"body", None)  # type: ignore[arg-type]
    assert written == Written('"new"', 1_795_255_200_000)


def test_a_listing_goes_on_after_a_key(s3: S3) -> None:
    for key in ("a/1", "a/2", "a/3", "b/1", "a/sub/4"):
        s3.put_once(key, b"")
    assert [item.key for item in s3.list("a/", after="a/1")] == ["a/2", "a/3", "a/sub/4"]
    assert [item.key for item in s3.level("a/")] == ["a/1", "a/2", "a/3"]


def test_what_is_removed_is_gone_and_may_be_removed_again(s3: S3) -> None:
    s3.put_once("a", b"")
    s3.delete("a")
    s3.delete("a")
    assert not s3.exists("a")


def test_a_bucket_tells_its_region_from_anywhere(s3: S3, clients: Clients) -> None:
    Objects().create_bucket("data-of-europe", "eu-west-1")
    assert s3.region_of("data-of-europe") == "eu-west-1"
    assert S3(clients, "eu-west-1", "data-of-europe").region_of(s3.bucket) == "us-west-2"
    with pytest.raises(NotFound):
        s3.region_of("nowhere")


def test_a_bucket_that_we_may_not_use_tells_its_region_too() -> None:
    told = Forbidden({"x-amz-bucket-region": "eu-west-1"})
    assert S3(told, "us-west-2", "b").region_of("theirs") == "eu-west-1"  # type: ignore[arg-type]
    with pytest.raises(AccessDenied):
        S3(Forbidden({}), "us-west-2", "b").region_of("theirs")  # type: ignore[arg-type]


class Forbidden:
    """Clients whose S3 lets nobody look at a bucket."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers

    def client(self, *_: str) -> Forbidden:
        return self

    def head_bucket(self, **_: str) -> dict[str, Any]:
        answer = {"Error": {"Code": "403"}, "ResponseMetadata": {"HTTPStatusCode": 403, "HTTPHeaders": self.headers}}
        raise ClientError(answer, "HeadBucket")  # type: ignore[arg-type]
