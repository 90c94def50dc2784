"""What a night tells of its runs: each event once, and of a run that is held up, what holds it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.nightly import aftermath
from orchestrator.runs.why.hindrance import Hindrance
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from orchestrator.notices.notice import Notice

HELD = Hindrance(4, "no capacity for ml.p4d.24xlarge in eu-west-1", "another Region may have some", "0-3")


@pytest.mark.parametrize(
    ("finished", "why", "told"),
    [
        (False, [HELD], ["run nightly-20261121 of steering: 4 of its tasks are held up: no capacity"]),
        (False, [], []),
        (True, [HELD], []),
    ],
)
def test_what_holds_a_run_up_is_told_while_it_runs(
    monkeypatch: pytest.MonkeyPatch, finished: bool, why: list[Hindrance], told: list[str]
) -> None:
    said: list[Notice] = []
    monkeypatch.setattr(aftermath, "tell", lambda notice, *_: said.append(notice))
    plan = SimpleNamespace(sweep=make_sweep(name="steering"))
    run = SimpleNamespace(
        anchor=SimpleNamespace(name="nightly-20261121", plan=plan),
        plan=plan,
        status=lambda: SimpleNamespace(finished=finished),
        why=lambda: why,
        sync_as_far_as_possible=lambda *, documents: documents,
    )
    team: Any = SimpleNamespace(run=lambda _: run, cloud=None)
    aftermath.tell_if_stuck(team, "nightly-20261121")
    assert [notice.text[: len(text)] for notice, text in zip(said, told, strict=True)] == told
