"""A cluster is deleted under its trainings: what they have said counts, and what said nothing is interrupted."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import NotFound, Unreachable
from orchestrator.platforms.eks import runner as runners
from orchestrator.platforms.eks.kube import clusters
from orchestrator.platforms.eks.runner import EksRunner
from orchestrator.training.bare.telling.outcome import DONE, MachineOutcome
from orchestrator.training.bare.together.leave import Verdict
from orchestrator.wire.result import Cause, TaskState
from tests.platforms.eks.made import ATTEMPT

if TYPE_CHECKING:
    from orchestrator.wire.result import Outcome

ALONE = replace(ATTEMPT, instances=1)
DAY_S = 86_400


class Shelf:
    """What is kept of a training in S3."""

    def __init__(self, *words: MachineOutcome | None, began: float | None = None, has_begun: bool = True) -> None:
        self.words, self.began, self._has_begun = list(words), began, has_begun
        self.said: Verdict | None = None
        self.ended: Outcome | None = None

    def end(self) -> Outcome | None:
        return self.ended

    def put_end(self, outcome: Outcome) -> None:
        self.ended = outcome

    def claim(self) -> dict[str, Any]:
        return {"cluster": "prod", "namespace": "sweep", "patience_s": 600}

    def has_begun(self) -> bool:
        return self._has_begun

    def machines(self, _: int) -> list[MachineOutcome | None]:
        return self.words

    def arrivals(self, _: int) -> tuple[float, ...]:
        return () if self.began is None else (self.began,)

    def leave(self) -> Verdict | None:
        return self.said

    def ask_to_leave(self, cause: str, reason: str) -> None:
        self.said = self.said or Verdict(cause, reason)


def runner_of(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> EksRunner:
    """Return a runner whose cluster EKS does not know any more."""

    def nowhere(*_: object) -> dict[str, Any]:
        raise NotFound("No cluster found for name: prod.")

    runner = EksRunner(None)  # type: ignore[arg-type]
    monkeypatch.setattr(clusters, "describe_cluster", nowhere)
    monkeypatch.setattr(runner, "_kept", lambda _: shelf)
    monkeypatch.setattr(runners, "at_spot_price", lambda _clients, _attempt, outcome, _zones: outcome)
    return runner


def test_a_training_goes_with_its_cluster_and_pods_that_outlive_it_are_told_to_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shelf = Shelf(None, began=time.time() - 60)
    outcome = runner_of(shelf, monkeypatch).poll(ALONE)
    assert outcome is not None
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.INTERRUPTED)
    assert outcome.reason == "the cluster prod is gone"
    assert 60 <= outcome.billable_s < 120
    assert shelf.said == Verdict("interrupted", "the cluster prod is gone")
    assert shelf.ended == outcome


def test_what_was_done_before_its_cluster_went_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(MachineOutcome(0, DONE, started_at=100.0, ended_at=160.0))
    outcome = runner_of(shelf, monkeypatch).poll(ALONE)
    assert outcome is not None
    assert (outcome.state, outcome.billable_s) == (TaskState.DONE, 60)


def test_a_cluster_that_went_days_ago_was_not_paid_for_since(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = runner_of(Shelf(None, began=time.time() - 3 * DAY_S), monkeypatch).poll(ALONE)
    assert outcome is not None
    assert outcome.billable_s == pytest.approx(ALONE.max_runtime_s)


def test_what_was_never_begun_in_a_cluster_that_is_gone_was_never_there(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(None, has_begun=False)
    assert runner_of(shelf, monkeypatch).poll(ALONE) is None
    assert shelf.said is None


def test_a_cluster_that_does_not_answer_is_looked_for_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is gone since it was opened, or was made again at another address."""

    class Silent:
        def get(self, *_: str) -> None:
            raise Unreachable("no answer")

    monkeypatch.setattr(clusters, "open_cluster", lambda *_: Silent())
    runner = EksRunner(None)  # type: ignore[arg-type]
    monkeypatch.setattr(runner, "_kept", lambda _: Shelf(None, began=time.time()))
    with pytest.raises(Unreachable):
        runner.poll(ALONE)
    monkeypatch.undo()
    gone = runner_of(Shelf(None, began=time.time()), monkeypatch)
    runner._kept, runner.clients = gone._kept, gone.clients  # type: ignore[method-assign]
    outcome = runner.poll(ALONE)
    assert outcome is not None
    assert outcome.reason == "the cluster prod is gone"
