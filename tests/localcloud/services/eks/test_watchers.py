"""Many watchers and writers at once, over TLS: what is told too late, who has left, and what each has seen.

kubernetes.io/docs/reference/using-api/api-concepts ("Efficient detection of changes", "410 Gone responses")
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import urllib3
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.localcloud.clock import Clock
from orchestrator.localcloud.services.eks import web
from orchestrator.localcloud.services.eks.certificates import make_certificates
from orchestrator.localcloud.services.eks.kubernetes.reading.journal import KEPT
from orchestrator.localcloud.services.eks.kubernetes.reading.watches import Watch
from orchestrator.localcloud.services.eks.kubernetes.resources import SERVICES, Target
from orchestrator.localcloud.services.eks.kubernetes.store import Store
from tests.localcloud.conftest import eventually
from tests.localcloud.services.eks.kube import read_events

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

LAST = "last"


def add(store: Store, name: str, **labels: str) -> Any:
    with store.lock:
        return store.add(SERVICES, {"metadata": {"name": name, "namespace": "x", "labels": labels}})


class Api:
    """A server whose every answer is a watch of services. It says of each watch when that is over."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(Clock())
        self.began = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)
        self.query: dict[str, str] = {}
        certificates = make_certificates("watchers", folder)
        self.server = web.Server(certificates.server, self._answer, self.store.clock.now)
        self._pool = urllib3.PoolManager(cert_reqs="CERT_NONE", maxsize=8)

    def _answer(self, *_: Any) -> web.Stream:
        return web.Stream(200, open=lambda: self._lines(Watch(self.store, Target(SERVICES), self.query)))

    def _lines(self, watch: Watch) -> Generator[bytes, None, None]:
        try:
            for line in watch.lines():
                self.began.release()
                yield line
        finally:
            self.ended.release()

    def open(self, **query: str) -> Any:
        self.query = query
        return self._pool.request("GET", self.server.url, preload_content=False, timeout=60, retries=False)


@pytest.fixture
def api(tmp_path: Path) -> Any:
    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    api = Api(tmp_path)
    yield api
    api.server.server_close()  # its thread looks up once an hour: nobody waits for that


def test_who_asks_for_more_of_the_past_than_is_kept_is_told_that_it_is_gone(api: Api) -> None:
    body = add(api.store, "one")
    start = api.store.version
    for number in range(KEPT + 1):
        body["metadata"]["labels"]["step"] = str(number)
        api.store.touch(body)
    answer = api.open(resourceVersion=str(start))
    (event,) = read_events(answer)
    assert (event["type"], event["object"]["kind"], event["object"]["code"]) == ("ERROR", "Status", 410)
    assert event["object"]["reason"] == "Expired"
    with_all = read_events(api.open(resourceVersion=str(start + 1), timeoutSeconds="1"))
    assert [each["type"] for each in with_all] == ["MODIFIED"] * KEPT


def test_a_watch_ends_when_its_client_has_gone_though_nothing_happens(api: Api) -> None:
    answer = api.open()
    assert api.began.acquire(timeout=60)
    before = threading.active_count()
    answer.close()
    assert api.ended.acquire(timeout=60)
    eventually(lambda: threading.active_count() < before)


def test_many_watchers_see_what_many_writers_do_each_once_and_in_order(api: Api) -> None:
    def write(writer: int) -> None:
        for number in range(30):
            body = add(api.store, f"{writer}-{number}")
            with api.store.lock:
                body["metadata"]["labels"]["step"] = "2"
                api.store.touch(body)
            if number % 3:
                with api.store.lock:
                    api.store.remove(SERVICES, body)

    def watch(answer: Any) -> list[Any]:
        seen = []
        for event in read_events(answer):
            seen.append(event)
            if event["object"]["metadata"]["name"] == LAST:
                answer.close()
                break
        return seen

    answers = [api.open() for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        watching = [threads.submit(watch, answer) for answer in answers]
        list(threads.map(write, range(4)))
        add(api.store, LAST)
        told = [each.result(timeout=120) for each in watching]
    for seen in told:
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in seen]
        assert versions == sorted(set(versions))
        kinds: dict[str, list[str]] = {}
        for event in seen:
            kinds.setdefault(event["object"]["metadata"]["name"], []).append(event["type"])
        assert kinds.pop(LAST) == ["ADDED"]
        expected = [["ADDED", "MODIFIED"], ["ADDED", "MODIFIED", "DELETED"]]
        # What was there before a watcher began may have been changed before, too.
        assert all(each in (*expected, ["ADDED", "DELETED"], ["ADDED"]) for each in kinds.values())
        gone = {name for name, each in kinds.items() if each[-1] == "DELETED"}
        assert kinds.keys() - gone == {f"{writer}-{number}" for writer in range(4) for number in range(0, 30, 3)}
    for _ in answers:
        assert api.ended.acquire(timeout=60)


STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("red", "blue", "gone"))), max_size=20)


@given(before=STEPS, after=STEPS)
def test_what_was_there_and_what_is_told_are_what_is_there(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    """The oracle is a plain table of colors; the watcher sees what is red."""
    store = Store(FROZEN)
    table: dict[str, str] = {}

    def play(steps: list[tuple[str, str]]) -> None:
        for name, color in steps:
            body = store.find(SERVICES, "x", name)
            if color == "gone":
                if body:
                    store.remove(SERVICES, body)
                table.pop(name, None)
                continue
            table[name] = color
            if body is None:
                add(store, name, color=color)
            else:
                body["metadata"]["labels"]["color"] = color
                store.touch(body)

    play(before)
    seen = {name for name, color in table.items() if color == "red"}
    query = {"labelSelector": "color=red", **({"resourceVersion": str(store.version)} if store.version else {})}
    watch = Watch(store, Target(SERVICES), query)
    play(after)
    add(store, LAST, color="red")
    for line in watch.lines():
        event = json.loads(line)
        name = event["object"]["metadata"]["name"]
        if name == LAST:
            break
        assert event["object"]["metadata"]["labels"]["color"] == "red"
        assert (name in seen) == (event["type"] != "ADDED")
        (seen.remove if event["type"] == "DELETED" else seen.add)(name)
    assert seen == {name for name, color in table.items() if color == "red"}


FROZEN = Clock()
