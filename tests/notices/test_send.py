"""Everybody who wants to know of an event is told of it, signed, with one id; and what is dead holds nobody up."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.notices import send
from orchestrator.notices import webhook as posting
from orchestrator.notices.channels import Channels
from orchestrator.notices.notice import Notice
from orchestrator.notices.send import notify
from tests.launcher.fakes import Bucket
from tests.notices.hooks import Hook, webhook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients

REGION = "eu-west-1"
SAID = "run monday is done — 3 done"
NOTICE = Notice("finished", ("monday", "1"), SAID, 1795000000.5, "steering", "monday", {"usd": 1.5})


@pytest.fixture
def hook() -> Iterator[Hook]:
    with webhook() as made:
        yield made


@pytest.fixture
def other() -> Iterator[Hook]:
    with webhook() as made:
        yield made


def tell(notice: Notice, bucket: Any, clients: Any, *to: str, **more: Any) -> list[tuple[bool, str]]:
    return [(one.sent, one.why) for one in notify(notice, [Channels(to, **more)], bucket, clients)]


def test_a_webhook_gets_text_for_people_and_facts_for_programs(hook: Hook) -> None:
    assert tell(NOTICE, Bucket(), None, hook.url) == [(True, "")]
    ((headers, _),) = hook.got
    assert hook.bodies == [
        {
            "text": SAID,
            "version": 1,
            "id": NOTICE.id,
            "kind": "finished",
            "workload": "steering",
            "run": "monday",
            "at": 1795000000.5,
            "facts": {"usd": 1.5},
        }
    ]
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Sweep-Id"] == NOTICE.id
    assert "X-Sweep-Signature" not in headers


def rfc_2104(key: bytes, message: bytes) -> str:
    """Return HMAC-SHA256 as the RFC writes it: H(K xor opad, H(K xor ipad, message)), for keys of up to 64 bytes."""
    padded = key.ljust(64, b"\0")
    inner, outer = (bytes(one ^ pad for one in padded) for pad in (0x36, 0x5C))
    return hashlib.sha256(outer + hashlib.sha256(inner + message).digest()).hexdigest()


def test_a_webhook_can_prove_who_has_sent_it(hook: Hook, clients: Clients) -> None:
    clients.client("ssm", REGION).put_parameter(Name="/team/hook", Value="s3cret", Type="SecureString")
    assert tell(NOTICE, Bucket(), clients, hook.url, secret=f"ssm:{REGION}:/team/hook") == [(True, "")]
    ((headers, body),) = hook.got
    at, code = (part.partition("=")[2] for part in headers["X-Sweep-Signature"].split(","))
    assert code == hmac.new(b"s3cret", f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert code == rfc_2104(b"s3cret", f"{at}.".encode() + body)


def test_a_topic_gets_the_same_payload(clients: Clients) -> None:
    sns, sqs = clients.client("sns", REGION), clients.client("sqs", REGION)
    topic = sns.create_topic(Name="sweeps")["TopicArn"]
    queue = sqs.create_queue(QueueName="told")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    assert tell(NOTICE, Bucket(), clients, topic) == [(True, "")]
    (message,) = sqs.receive_message(QueueUrl=queue)["Messages"]
    body = json.loads(message["Body"])
    assert json.loads(body["Message"]) == NOTICE.payload()
    assert body["Subject"] == "run monday is done ? 3 done"


def test_the_url_of_a_chat_is_a_secret_and_may_be_kept_as_one(hook: Hook, clients: Clients) -> None:
    secrets = clients.client("secretsmanager", REGION)
    arn = secrets.create_secret(Name="team/chat", SecretString=json.dumps({"url": hook.url}))["ARN"]
    assert tell(NOTICE, Bucket(), clients, f"secret:{arn}#url") == [(True, "")]
    assert len(hook.got) == 1
    ((sent, why),) = tell(NOTICE, Bucket(), clients, f"secret:{arn}#nothing")
    assert not sent
    assert "has no field 'nothing'" in why
    ((sent, why),) = tell(NOTICE, Bucket(), clients, f"ssm:{REGION}:/nowhere")
    assert not sent


def test_an_event_is_told_once_however_often_it_is_repeated(hook: Hook) -> None:
    bucket = Bucket()
    tell(NOTICE, bucket, None, hook.url)
    assert tell(NOTICE, bucket, None, hook.url) == [(False, "it was told before")]
    assert len(hook.got) == 1


@pytest.mark.parametrize(("status", "said"), [(500, "it answers 500 Internal Server Error"), (599, "it answers 599")])
def test_what_a_webhook_says_of_its_failure_is_not_repeated(hook: Hook, status: int, said: str) -> None:
    hook.status, hook.phrase = status, "\x1b[31mEVIL https://secret"
    assert tell(NOTICE, Bucket(), None, hook.url) == [(False, said)]


def test_who_was_not_reached_is_told_at_the_next_try_and_nobody_else(hook: Hook, other: Hook) -> None:
    bucket = Bucket()
    hook.status = 503
    assert tell(NOTICE, bucket, None, hook.url, other.url) == [
        (False, "it answers 503 Service Unavailable"),
        (True, ""),
    ]
    hook.status = 200
    assert tell(NOTICE, bucket, None, hook.url, other.url) == [(True, ""), (False, "it was told before")]
    assert [one["id"] for one in hook.bodies] == [NOTICE.id, NOTICE.id]
    assert len(other.got) == 1


def test_a_test_is_told_every_time_whatever_kinds_are_asked_for(hook: Hook) -> None:
    bucket: Any = Bucket()
    for _ in range(2):
        tell(Notice("test", (), "a test", 1.0), bucket, None, hook.url, kinds=("failed",))
    assert len(hook.got) == 2
    assert bucket.objects == {}


def test_only_those_kinds_are_told_that_somebody_wants(hook: Hook) -> None:
    assert tell(NOTICE, Bucket(), None, hook.url, kinds=("failed", "alarm")) == []
    assert hook.got == []


def test_a_dead_webhook_is_told_of_and_holds_up_nobody(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody listens at one address; the other takes the notice and never answers."""
    with webhook() as gone:
        dead = gone.url
    hook.silent = threading.Event()
    monkeypatch.setattr(posting, "TIMEOUT_S", 0.2)
    found = notify(NOTICE, [Channels((dead, hook.url))], Bucket(), None)  # type: ignore[arg-type]
    hook.silent.set()
    assert [(one.address, one.sent) for one in found] == [("127.0.0.1", False), ("127.0.0.1", False)]
    assert all(one.why.startswith("it does not answer") for one in found)
    assert "secret" not in caplog.text
    assert "127.0.0.1 was not told of" in caplog.text


def test_nobody_waits_for_an_address_beyond_patience(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    hook.silent = threading.Event()
    monkeypatch.setattr(send, "PATIENCE_S", 0.3)
    assert tell(NOTICE, Bucket(), None, hook.url) == [(False, "no answer within 0 s")]
    hook.silent.set()


def test_a_notice_goes_to_its_address_and_to_no_other(hook: Hook, other: Hook) -> None:
    hook.status, hook.location = 307, other.url
    ((sent, why),) = tell(NOTICE, Bucket(), None, hook.url)
    assert (sent, why) == (False, "it answers 307 Temporary Redirect")
    assert other.got == []


@pytest.mark.parametrize("body", [b"", b"[]", b'{"told": 3}', b"\xff"])
def test_a_spoilt_note_makes_an_event_be_told_again(hook: Hook, body: bytes) -> None:
    bucket: Any = Bucket()
    bucket.put_once(f"notices/{NOTICE.id}.json", body)
    assert tell(NOTICE, bucket, None, hook.url) == [(True, "")]


class Killed(BaseException):
    pass


def test_killed_at_any_moment_the_next_try_tells_it_with_the_same_id(hook: Hook) -> None:
    for calls in range(20):
        bucket: Any = Bucket()
        left = [calls]

        def before(_: str, bucket: Any = bucket, left: list[int] = left) -> None:
            if not left[0]:
                bucket.before = lambda _: None
                raise Killed
            left[0] -= 1

        bucket.before = before
        hook.got.clear()
        try:
            tell(NOTICE, bucket, None, hook.url)
        except Killed:
            tell(NOTICE, bucket, None, hook.url)
            assert {one["id"] for one in hook.bodies} == {NOTICE.id}
            assert 1 <= len(hook.got) <= 2
            continue
        break
    assert 2 < calls < 19


@pytest.mark.parametrize("text", ["a\nb\r\nX-Evil: 1", "\ud800", "x" * 10_000, "\x00"])
def test_whatever_is_said_is_sent_whole_and_rules_nothing(hook: Hook, clients: Clients, text: str) -> None:
    topic = clients.client("sns", REGION).create_topic(Name="sweeps")["TopicArn"]
    odd = Notice("alarm", (text.encode("utf-8", "replace").decode(),), text, 1.0)
    assert tell(odd, Bucket(), clients, hook.url, topic)[0] == (True, "")
    assert "X-Evil" not in hook.got[0][0]
    assert hook.bodies[0]["text"] == text.encode("utf-8", "replace").decode()
