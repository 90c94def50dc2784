"""A run that its budgets cannot pay is not made, and leaves nothing behind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.budgets.hold import read_month
from orchestrator.errors import Refused, UsageError
from orchestrator.runs.sending.envelopes import draw_of, foreseeing, holding, settle_run
from orchestrator.runs.written.anchor import create
from tests.runs.bench import plan

if TYPE_CHECKING:
    from orchestrator.budgets.month import Month
    from orchestrator.runs.written.anchor import Anchor
    from tests.fixtures.team import Team
    from tests.runs.bench import Desk

MONTHLY = {"budget": {"per_month": 12}}


def anchor(desk: Desk, run: str, **sweep: Any) -> Anchor:
    """A run of one task that may cost $3.78 at most: an hour, and 180 seconds."""
    return desk.anchor(plan(tasks=1, **{"name": "steering", **MONTHLY, **sweep}), run, created_at=time.time())


def make(desk: Desk, wanted: Anchor, owner_budget: float | None = None) -> None:
    with holding(desk.ledger(), desk.cloud(owner_budget=owner_budget), lambda _made, _cloud: None) as ready:
        ready(wanted)
        create(desk.bucket, wanted)


def month(desk: Desk, wanted: Anchor) -> Month:
    return read_month(draw_of(wanted, None).budgets[0], desk.bucket)


def test_runs_are_made_until_the_month_s_budget_is_held(desk: Desk) -> None:
    for name in ("monday", "tuesday", "wednesday"):
        make(desk, anchor(desk, name))
    with pytest.raises(Refused, match=r"the budget of workload steering for .* is \$12.00"):
        make(desk, anchor(desk, "thursday"))
    assert month(desk, anchor(desk, "monday")).held == pytest.approx(3 * 3.78)


def test_a_look_ahead_refuses_and_warns_as_the_hold_would_and_holds_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    look = foreseeing(desk.ledger(), desk.cloud(), lambda _made, _cloud: None)
    for name in ("monday", "tuesday", "wednesday"):
        caplog.clear()
        look(anchor(desk, name))
        foreseen = caplog.messages
        assert name not in month(desk, anchor(desk, name)).envelopes
        make(desk, anchor(desk, name))
        assert caplog.messages == 2 * foreseen
    assert "% are spent or held" in foreseen[0]
    before = month(desk, anchor(desk, "monday"))
    with pytest.raises(Refused, match=r"the budget of workload steering for .* is \$12.00"):
        look(anchor(desk, "thursday"))
    assert month(desk, anchor(desk, "monday")) == before


def test_an_owner_has_a_budget_over_all_workloads(desk: Desk) -> None:
    make(desk, anchor(desk, "monday", budget=None), owner_budget=5.0)
    with pytest.raises(Refused, match="the budget of owner ada"):
        make(desk, anchor(desk, "other", name="other", budget=None), owner_budget=5.0)


def test_a_run_that_is_not_made_after_all_holds_nothing(desk: Desk) -> None:
    wanted = anchor(desk, "monday")
    with holding(desk.ledger(), desk.cloud(), lambda _made, _cloud: None) as ready:
        ready(wanted)
        assert month(desk, wanted).held
    assert month(desk, wanted).counted == 0


def test_a_run_that_has_ended_gives_back_what_it_did_not_need_to_whoever_asks(desk: Desk) -> None:
    first = anchor(desk, "monday", budget={"per_month": 4})
    make(desk, first)
    desk.submit(first)
    with pytest.raises(Refused):
        make(desk, anchor(desk, "tuesday", budget={"per_month": 4}))
    desk.platform.hours = 0.1
    desk.launch(first, 0)
    make(desk, anchor(desk, "tuesday", budget={"per_month": 5}))
    found = month(desk, first)
    assert found.envelopes["monday"].paid == pytest.approx(0.36)
    assert list(found.open) == ["tuesday"]


def test_a_run_is_settled_when_it_has_ended_and_not_before(desk: Desk) -> None:
    wanted = anchor(desk, "monday")
    make(desk, wanted)
    desk.submit(wanted)
    settle_run(wanted, desk.ledger(), desk.cloud())
    assert month(desk, wanted).held == pytest.approx(3.78)
    desk.launch(wanted, 0)
    desk.sync(wanted)
    settle_run(wanted, desk.ledger(), desk.cloud())
    assert month(desk, wanted).paid == pytest.approx(1.8)


def test_a_retry_holds_its_run_s_envelope_again_or_is_refused(desk: Desk) -> None:
    wanted = anchor(desk, "monday", budget={"per_month": 6})
    make(desk, wanted)
    desk.submit(wanted)
    desk.launch(wanted, 0)
    desk.sync(wanted)
    settle_run(wanted, desk.ledger(), desk.cloud())
    make(desk, anchor(desk, "tuesday", budget={"per_month": 6}))
    with pytest.raises(Refused, match="run 'monday' may cost"):
        desk.retry(wanted, "0", again=True)
    assert len(desk.batch.jobs) == 1
    assert month(desk, wanted).envelopes["monday"].paid == pytest.approx(1.8)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("nothing_starts")
def test_a_submit_that_the_budget_cannot_pay_writes_nothing(team: Team, name: str) -> None:
    made = team.plan("[1]")
    budgeted = made.sweep.model_copy(update={"name": name})
    body = budgeted.model_dump(mode="json") | {"budget": {"per_month": made.worst_usd * 1.5}}
    sweep = type(budgeted).model_validate(body).model_copy(update={"folder": made.sweep.folder})
    orchestrator = team.orchestrator()
    kept = orchestrator.plan(sweep)
    orchestrator.submit(kept, name=f"{name}-1")
    with pytest.raises(Refused, match=f"the budget of workload {name}"):
        orchestrator.submit(kept, name=f"{name}-2")
    assert orchestrator.submit(kept, name=f"{name}-1").name == f"{name}-1"  # going on with it takes no second envelope
    with pytest.raises(UsageError, match="no run"):
        orchestrator.run(f"{name}-2")
