"""What passes is waited out, and no longer than it is worth."""

from __future__ import annotations

import pytest

from orchestrator.errors import AccessDenied, SweepError, Throttled, Unreachable
from orchestrator.runs.patience import LIMIT_S, LONGEST_S, Patience


class Answers:
    """A call that raises these errors, then answers."""

    def __init__(self, *errors: SweepError) -> None:
        self.errors = list(errors)

    def __call__(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "here"


def test_a_call_is_made_again_until_it_goes_through(caplog: pytest.LogCaptureFixture) -> None:
    slept: list[float] = []
    assert Patience(slept.append).ask(Answers(Throttled("Rate exceeded"), Unreachable("no answer"))) == "here"
    assert len(slept) == 2
    assert slept[0] <= 2.0 < 4.0 >= slept[1]
    assert [message.partition(":")[0] for message in caplog.messages] == ["Rate exceeded", "no answer"]


def test_what_does_not_pass_is_raised_at_once() -> None:
    with pytest.raises(AccessDenied):
        Patience(pytest.fail).ask(Answers(AccessDenied("no")))


def test_patience_ends() -> None:
    slept: list[float] = []
    with pytest.raises(Unreachable):
        Patience(slept.append).ask(Answers(*[Unreachable("down")] * 1000))
    assert LIMIT_S <= sum(slept) <= LIMIT_S + LONGEST_S


def test_patience_is_new_after_an_answer() -> None:
    patience = Patience(lambda _: None, limit_s=3.0)
    for _ in range(20):
        patience.ask(Answers(Unreachable("down"), Unreachable("down")))
