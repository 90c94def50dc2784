"""What a machine writes comes to its log, up to the last line, whatever CloudWatch says to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.training.aws_call import Address, CallFailed
from orchestrator.training.bare.telling import logs
from orchestrator.training.bare.telling.logs import Log, Stream
from orchestrator.training.credentials import Keyring

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

STREAM = Stream("eu-west-1", "/sweep/trainings", "r-0-1/rank-0", {}, Keyring({}))
LONG_S = 60.0


class CloudWatch:
    """Takes lines, and refuses the first calls that bring any."""

    def __init__(self, *refusals: CallFailed) -> None:
        self.refusals = list(refusals)
        self.events: list[dict[str, Any]] = []
        self.asked = 0

    def call(self, address: Address, body: Mapping[str, Any], *_: object) -> None:
        if not address.target.endswith("PutLogEvents"):
            return
        self.asked += 1
        if self.refusals:
            raise self.refusals.pop(0)
        times = [event["timestamp"] for event in body["logEvents"]]
        if times != sorted(times):
            raise CallFailed("InvalidParameterException: log events must be in chronological order")
        self.events += body["logEvents"]

    @property
    def lines(self) -> list[str]:
        return [event["message"] for event in self.events]


def log_to(cloud_watch: CloudWatch, monkeypatch: pytest.MonkeyPatch, every_s: float) -> Log:
    monkeypatch.setattr(logs, "call_by_hand", cloud_watch.call)
    monkeypatch.setattr(logs, "_EVERY_S", every_s)
    return Log(STREAM)


def test_the_last_lines_are_sent_again_while_nobody_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Region that answers nobody when the training ends: what it was worth stands in these lines."""
    away = [CallFailed("no answer", passes=True) for _ in range(3)]
    cloud_watch = CloudWatch(*away)
    log = log_to(cloud_watch, monkeypatch, LONG_S)
    log.take(b"loss=0.25\n")
    log.end(LONG_S)
    assert cloud_watch.lines == ["loss=0.25", "sweep: the log does not reach /sweep/trainings: no answer"]


def test_a_machine_waits_for_nobody_who_will_never_take_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud_watch = CloudWatch(*[CallFailed("AccessDeniedException: no")] * 100)
    log = log_to(cloud_watch, monkeypatch, LONG_S)
    log.take(b"loss=0.25\n")
    log.end(LONG_S)
    assert cloud_watch.asked == 1


def test_lines_reach_the_log_though_the_clock_was_set_back_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 90.0, 110.0])
    cloud_watch = CloudWatch()
    log = log_to(cloud_watch, monkeypatch, LONG_S)
    monkeypatch.setattr(logs.time, "time", lambda: next(clock))
    for line in (b"first\n", b"second\n", b"third\n"):
        log.take(line)
    log.end(LONG_S)
    assert cloud_watch.lines == ["first", "second", "third"]
