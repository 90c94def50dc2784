"""Whatever happens, the runs of a month never hold more than its budget, and what they did not need comes back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.budgets.budget import Budget, Draw, month_of
from orchestrator.budgets.hold import NEVER_MADE_S, give_back, hold, read_month, settle
from orchestrator.budgets.month import Envelope, Month
from orchestrator.errors import Damaged, NotFound, Refused
from tests.launcher.fakes import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable

STEERING = Budget("workload", "steering", "2026-12", 100.0)
ADA = Budget("owner", "ada", "2026-12", 150.0)


def draw(run: str, usd: float, *budgets: Budget) -> Draw:
    return Draw(run, usd, budgets or (STEERING,))


def runs(_: str) -> None:
    """Every run goes on."""


def counted(bucket: Any, budget: Budget = STEERING) -> float:
    return read_month(budget, bucket).counted


def test_runs_hold_envelopes_until_the_budget_is_held() -> None:
    bucket: Any = Bucket()
    hold(draw("monday", 60), bucket, runs)
    with pytest.raises(Refused) as refused:
        hold(draw("tuesday", 50), bucket, runs)
    assert str(refused.value) == (
        "the budget of workload steering for 2026-12 is $100.00: $0.00 are spent, $60.00 are held by 1 run, "
        "and run 'tuesday' may cost $50.00 (it resumes on 2027-01-01, or when runs under way have ended for less)"
    )
    assert refused.value.exit_code == 6
    hold(draw("tuesday", 40), bucket, runs)
    assert counted(bucket) == 100


def test_what_a_run_did_not_need_is_free_again() -> None:
    bucket: Any = Bucket()
    hold(draw("monday", 90), bucket, runs)
    settle(draw("monday", 90), 10.0, bucket)
    hold(draw("tuesday", 90), bucket, runs)
    assert counted(bucket) == 100
    settle(draw("tuesday", 90), 90.0, bucket)
    with pytest.raises(Refused, match=r"\(it resumes on 2027-01-01\)"):
        hold(draw("wednesday", 1), bucket, runs)


def test_a_run_that_holds_its_envelope_gets_no_second_one() -> None:
    bucket: Any = Bucket()
    for _ in range(3):
        hold(draw("monday", 60), bucket, runs)
    assert counted(bucket) == 60


def test_runs_that_have_ended_are_looked_at_before_anybody_is_refused() -> None:
    bucket: Any = Bucket()
    hold(draw("monday", 90), bucket, runs)
    hold(draw("tuesday", 90), bucket, lambda run: 5.0 if run == "monday" else None)
    month = read_month(STEERING, bucket)
    assert (month.paid, month.held, list(month.open)) == (5.0, 90.0, ["tuesday"])


def test_an_envelope_whose_run_was_never_made_is_given_back_after_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket: Any = Bucket()

    def never_made(run: str) -> None:
        raise NotFound(run)

    hold(draw("killed", 90), bucket, runs)
    with pytest.raises(Refused):
        hold(draw("tuesday", 90), bucket, never_made)
    later = time.time() + NEVER_MADE_S + 1
    monkeypatch.setattr(time, "time", lambda: later)
    hold(draw("tuesday", 90), bucket, never_made)
    assert list(read_month(STEERING, bucket).envelopes) == ["tuesday"]


def test_a_run_draws_on_all_its_budgets_or_on_none() -> None:
    bucket: Any = Bucket()
    hold(draw("other", 100, ADA), bucket, runs)
    with pytest.raises(Refused, match="the budget of owner ada"):
        hold(draw("monday", 60, STEERING, ADA), bucket, runs)
    assert counted(bucket) == 0
    assert counted(bucket, ADA) == 100


def test_a_retry_that_is_refused_leaves_what_its_run_has_cost() -> None:
    bucket: Any = Bucket()
    hold(draw("monday", 60, STEERING, ADA), bucket, runs)
    settle(draw("monday", 60, STEERING, ADA), 20.0, bucket)
    hold(draw("tuesday", 125, ADA), bucket, runs)
    with pytest.raises(Refused):
        hold(draw("monday", 60, STEERING, ADA), bucket, runs)
    assert read_month(STEERING, bucket).paid == 20
    assert read_month(ADA, bucket).paid == 20


def test_a_retry_holds_its_run_s_envelope_again() -> None:
    bucket: Any = Bucket()
    hold(draw("monday", 60), bucket, runs)
    settle(draw("monday", 60), 20.0, bucket)
    hold(draw("monday", 60), bucket, runs)
    assert read_month(STEERING, bucket).held == 60


@pytest.mark.parametrize("others", [1, 3])
def test_of_two_submits_at_once_only_as_many_as_fit_go_ahead(others: int) -> None:
    bucket: Any = Bucket()

    def before(what: str) -> None:
        if what == "put":
            bucket.before = lambda _: None
            for number in range(others):
                hold(draw(f"other-{number}", 30), bucket, runs)

    bucket.before = before
    if others == 3:
        with pytest.raises(Refused):
            hold(draw("ours", 30), bucket, runs)
    else:
        hold(draw("ours", 30), bucket, runs)
    assert counted(bucket) == pytest.approx(30 * min(others + 1, 3))


class Killed(BaseException):
    pass


def test_killed_at_any_moment_a_hold_is_completed_by_the_next_try() -> None:
    for calls in range(40):
        bucket: Any = Bucket()
        hold(draw("before", 50, STEERING, ADA), bucket, runs)
        left = [calls]
        bucket.before = killer(bucket, left)
        try:
            hold(draw("ours", 30, STEERING, ADA), bucket, runs)
        except Killed:
            hold(draw("ours", 30, STEERING, ADA), bucket, runs)
            assert (counted(bucket), counted(bucket, ADA)) == (80, 80)
            continue
        break
    assert 3 < calls < 39


def killer(bucket: Any, left: list[int]) -> Callable[[str], None]:
    def before(_: str) -> None:
        if not left[0]:
            bucket.before = lambda _: None
            raise Killed
        left[0] -= 1

    return before


def test_marks_are_told_once_when_they_are_passed() -> None:
    bucket: Any = Bucket()
    told = [hold(draw(f"run-{n}", usd), bucket, runs)[0].passed for n, usd in enumerate([40, 20, 5, 12, 14, 9])]
    assert told == [0, 50, 0, 75, 90, 100]
    assert hold(draw("run-5", 9), bucket, runs)[0].passed == 0


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["hold", "settle", "give back"]), st.integers(0, 5), st.floats(0, 70)), max_size=25
)


@given(ACTIONS)
def test_whatever_runs_do_the_budget_is_never_passed(actions: list[tuple[str, int, float]]) -> None:
    bucket: Any = Bucket()
    envelopes: dict[str, float] = {}
    for what, number, usd in actions:
        name = f"run-{number}"
        if what == "hold":
            before = read_month(STEERING, bucket)
            try:
                hold(draw(name, usd), bucket, runs)
                envelopes[name] = usd
            except Refused:
                assert read_month(STEERING, bucket) == before
        elif what == "settle" and name in envelopes:
            settle(draw(name, usd), min(usd, envelopes[name]), bucket)
        elif what == "give back":
            give_back(draw(name, usd), bucket)
        assert counted(bucket) <= STEERING.usd + 1e-9


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"version": 1}', b'{"envelopes": {"a": {"usd": -1, "held_at": 0}}}', b'{"envelopes": {"a": 3}}'],
)
def test_a_damaged_month_is_named_and_nothing_is_held(body: bytes) -> None:
    bucket: Any = Bucket()
    bucket.put_once(STEERING.key, body)
    with pytest.raises(Damaged, match=r"s3://control/budgets/workload/steering/2026-12\.json"):
        hold(draw("monday", 1), bucket, runs)


def test_a_month_is_read_as_version_1_has_written_it() -> None:
    written = {
        "version": 1,
        "envelopes": {"monday": {"usd": 60.0, "held_at": 1795000000.5, "paid": 20.5}},
        "limit": 100.0,
        "later": True,
    }
    month = Month({"monday": Envelope(60.0, 1795000000.5, 20.5)}, 100.0)
    assert Month.from_json(written) == month
    assert {name: value for name, value in written.items() if name != "later"} == month.to_json()


@pytest.mark.parametrize(
    ("month", "day"), [("2026-11", "2026-12-01"), ("2026-12", "2027-01-01"), ("2026-01", "2026-02-01")]
)
def test_a_budget_resumes_on_the_first_of_the_next_month(month: str, day: str) -> None:
    assert replace(STEERING, month=month).resumes == day


def test_a_month_is_that_of_utc_and_any_owner_has_a_key() -> None:
    assert month_of(1796083199.0) == "2026-11"
    assert month_of(1796083200.0) == "2026-12"
    assert (
        Budget("owner", "../ada lovelace/x", "2026-12", 1.0).key == "budgets/owner/..%2Fada%20lovelace%2Fx/2026-12.json"
    )
