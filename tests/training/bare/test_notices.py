"""A spot instance hears that it is about to go: a recommendation is a line in the log, a notice makes it leave."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.training.bare import notices
from orchestrator.training.bare.notices import listen


class Metadata:
    """What an instance's metadata tells, for as long as it answers."""

    recommended = False
    action: dict[str, Any] | None = None
    answers = True

    def read(self, path: str) -> str | None:
        if not self.answers:
            raise OSError("timed out")
        return "{}" if path.endswith("/rebalance") and self.recommended else None

    def spot_action(self) -> dict[str, Any] | None:
        if not self.answers:
            raise OSError("timed out")
        return self.action


@pytest.fixture
def metadata(monkeypatch: pytest.MonkeyPatch) -> Metadata:
    told = Metadata()
    monkeypatch.setattr(notices, "read_metadata", told.read)
    monkeypatch.setattr(notices, "spot_action", told.spot_action)
    return told


def test_a_recommendation_is_told_once_and_the_training_goes_on(metadata: Metadata) -> None:
    said: list[str] = []
    heard = listen("instance", said.append)
    assert heard.heard() == ""
    metadata.recommended = True
    assert [heard.heard(), heard.heard()] == ["", ""]
    assert said == ["EC2 recommends to move: this spot instance is likelier to be reclaimed than others"]


def test_a_notice_is_why_the_machine_leaves(metadata: Metadata) -> None:
    metadata.action = {"action": "terminate", "time": "2026-11-22T09:00:00Z"}
    assert listen("instance", print).heard() == "spot notice: terminate at 2026-11-22T09:00:00Z"


def test_metadata_that_does_not_answer_is_told_once_and_ends_nothing(metadata: Metadata) -> None:
    said: list[str] = []
    heard = listen("instance", said.append)
    metadata.answers = False
    assert [heard.heard(), heard.heard()] == ["", ""]
    assert said == ["no word from the instance's metadata: timed out"]
    metadata.answers, metadata.action = True, {"action": "terminate", "time": "soon"}
    assert heard.heard() == "spot notice: terminate at soon"


def test_a_pod_is_told_by_sigterm_alone(metadata: Metadata) -> None:
    metadata.answers = False
    said: list[str] = []
    assert listen("pod", said.append).heard() == ""
    assert said == []
