"""A month's cost adds up whichever way it is asked for, says what it is, and names what it does not know."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone
from math import fsum
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.budgets.budget import Budget, Draw
from orchestrator.budgets.hold import hold
from orchestrator.cli.app import main
from orchestrator.cli.session import Session
from orchestrator.errors import UsageError
from orchestrator.plan.copy import Copy
from orchestrator.runs.known.rows import Known as KnownTask
from orchestrator.runs.run import Run
from orchestrator.runs.written.anchor import create
from orchestrator.runs.written.submission import everything
from orchestrator.spending.month import KINDS, add_up
from orchestrator.spending.month_chart import month_chart
from orchestrator.spending.paid import Known, Paid, find_paid, read_month_span
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Purchase
from tests.cli.fake import FakeOrchestrator
from tests.runs.bench import ACCOUNT, plan

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from tests.runs.bench import Desk

NOVEMBER = read_month_span("2026-11")
EAST = Lane("fake", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
WEST = replace(EAST, region="eu-west-1")


def at(day: int, month: int = 11) -> float:
    return datetime(2026, month, day, 12, tzinfo=timezone.utc).timestamp()


def ran(
    desk: Desk, name: str, *outcomes: Outcome, owner: str = "ada", workload: str = "steering", made: float = at(1)
) -> Run:
    """A run of one task with these attempts."""
    anchor = desk.anchor(plan(tasks=1, name=workload), name, owner=owner, created_at=made)
    create(desk.bucket, anchor)
    ledger = desk.ledger()
    ledger.remember(anchor, ACCOUNT)
    state = outcomes[-1].state if outcomes else TaskState.PENDING
    if outcomes:
        ledger.save(name, [KnownTask("etag", Result(0, "key", state, outcomes=outcomes), state)])
    ledger.expect(name, everything(anchor.plan))
    return Run(anchor, ledger, desk.cloud)


def attempt(
    number: int, usd: float, ended: float | None, lane: Lane = EAST, state: TaskState = TaskState.DONE
) -> Outcome:
    return Outcome(number, lane, f"t-{number}", state, usd=usd, billable_s=3600, instances=2, ended_at=ended)


def test_every_attempt_counts_where_and_when_it_ended(desk: Desk) -> None:
    runs = [
        ran(
            desk,
            "a",
            attempt(1, 1.0, at(30, 10), state=TaskState.FAILED),
            attempt(2, 2.0, at(1), WEST),
            made=at(30, 10),
        ),
        ran(desk, "b", attempt(1, 4.0, at(30)), owner="grace"),
        ran(desk, "c", attempt(1, 8.0, at(1, 12))),
        ran(desk, "d", attempt(1, 16.0, at(2)), workload="braking"),
    ]
    known = find_paid(runs, NOVEMBER)
    assert table(known, "workload") == [("braking", 16.0, 2.0, 1), ("steering", 6.0, 4.0, 2)]
    assert table(known, "owner") == [("ada", 18.0, 4.0, 2), ("grace", 4.0, 2.0, 1)]
    assert table(known, "region") == [("us-east-1", 20.0, 4.0, 2), ("eu-west-1", 2.0, 2.0, 1)]
    assert table(known, "day") == [
        ("2026-11-01", 2.0, 2.0, 1),
        ("2026-11-02", 16.0, 2.0, 1),
        ("2026-11-30", 4.0, 2.0, 1),
    ]
    assert known.unknown == []


def table(known: Known, by: str) -> list[tuple[str, float, float, int]]:
    return [(row.name, row.usd, row.hours, row.runs) for row in add_up(known, NOVEMBER, by).rows]


def test_an_attempt_whose_end_nobody_knows_counts_on_the_day_its_run_was_made(desk: Desk) -> None:
    assert table(find_paid([ran(desk, "a", attempt(1, 1.0, None))], NOVEMBER), "day") == [("2026-11-01", 1.0, 2.0, 1)]


def test_copies_of_data_count_in_the_region_that_they_went_to(desk: Desk) -> None:
    run = ran(desk, "a", attempt(1, 1.0, at(2)))
    copied = replace(run.plan, copies=(Copy(0, "us-east-1", "eu-west-1", "s3://a/", "s3://b/", usd=0.25, hours=1.0),))
    run.anchor = replace(run.anchor, plan=copied)
    assert table(find_paid([run], NOVEMBER), "region") == [("us-east-1", 1.0, 2.0, 1), ("eu-west-1", 0.25, 0.0, 1)]


def test_what_is_not_known_is_named_and_what_goes_on_is_said(desk: Desk) -> None:
    goes_on = ran(desk, "a")
    never_seen = desk.anchor(plan(tasks=1), "elsewhere", created_at=at(3))
    desk.ledger().remember(never_seen, ACCOUNT)
    later = desk.anchor(plan(tasks=1), "december", created_at=at(3, 12))
    desk.ledger().remember(later, ACCOUNT)
    runs = [goes_on, *(Run(anchor, desk.ledger(), desk.cloud) for anchor in (never_seen, later))]
    known = find_paid(runs, NOVEMBER)
    assert known.unknown == ["run elsewhere: nobody here has looked at it: `sweep sync elsewhere`"]
    said = add_up(known, NOVEMBER, "run")
    assert said.rows == []
    assert said.scope == (
        "Trainings that ended, and data that was copied, from 2026-11-01 to 2026-11-30 (UTC), at the prices that "
        "the runs' plans froze; not launchers, storage, requests, support and taxes. 2 runs go on: about $0.00 of "
        "trainings under way are not in it."
    )


@pytest.mark.parametrize("text", ["2026-13", "2026", "november", "", "0000-01", "9999-99"])
def test_what_is_no_month(text: str) -> None:
    with pytest.raises(UsageError, match="is no month"):
        read_month_span(text)


def test_a_month_ends_where_the_next_begins() -> None:
    assert (len(NOVEMBER.days), len(read_month_span("2028-02").days), read_month_span("2026-12").days[-1]) == (
        30,
        29,
        "2026-12-31",
    )
    assert not NOVEMBER.has(NOVEMBER.ends.timestamp())
    assert NOVEMBER.has(NOVEMBER.starts.timestamp())


AMOUNTS = st.lists(
    st.builds(
        Paid,
        run=st.sampled_from("abc"),
        workload=st.sampled_from("de"),
        owner=st.sampled_from("fg"),
        region=st.sampled_from("hi"),
        day=st.sampled_from(NOVEMBER.days),
        usd=st.floats(0, 1e6),
        hours=st.floats(0, 1e6),
    ),
    max_size=30,
)


@given(AMOUNTS, st.randoms(use_true_random=False))
def test_whichever_way_it_is_added_up_it_is_the_same_sum(paid: list[Paid], shuffle: random.Random) -> None:
    total = fsum(one.usd for one in paid)
    for by in KINDS:
        found = add_up(Known(paid), NOVEMBER, by)
        assert found.usd == pytest.approx(total)
        assert fsum(row.usd for row in found.rows) == pytest.approx(total)
    shuffled = list(paid)
    shuffle.shuffle(shuffled)
    assert [row.name for row in add_up(Known(shuffled), NOVEMBER, "day").rows] == sorted({one.day for one in paid})


def test_the_chart_has_a_line_for_each_of_the_dearest() -> None:
    paid = [Paid("r", f"w{number}", "ada", "us-east-1", "2026-11-03", float(number)) for number in range(12)]
    texts = [shape.text for shape in month_chart(Known(paid), NOVEMBER, "workload").shapes if hasattr(shape, "text")]
    assert "w11: $11.00" in texts
    assert "4 more" in texts
    with pytest.raises(UsageError, match="nothing was paid in 2026-11"):
        month_chart(Known(), NOVEMBER, "day")


@pytest.fixture
def team(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    runs = {
        "a": ran(desk, "a", attempt(1, 2.0, at(1), WEST)),
        "b": ran(desk, "b", attempt(1, 4.0, at(30)), owner="grace"),
    }
    made: Any = FakeOrchestrator()
    made.ledger, made.cloud = desk.ledger(), desk.cloud()
    made.run, made.learn_runs = runs.__getitem__, list
    made.settings = type("S", (), {"bucket": "control"})
    monkeypatch.setattr(Session, "orchestrator", made)
    monkeypatch.setattr(Run, "sync_as_far_as_possible", lambda _, *, documents=True: documents)
    monkeypatch.chdir(tmp_path)
    return made


def test_the_month_is_a_table_with_its_budget_and_its_scope(
    desk: Desk, team: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert team
    budget = Budget("workload", "steering", "2026-11", 100.0)
    hold(Draw("b", 30.0, (budget,)), desk.bucket, lambda _: None)
    assert main(["cost", "--month", "2026-11"]) == 0
    header, row, _, total, scope = capsys.readouterr().out.splitlines()
    assert header.split() == ["WORKLOAD", "RUNS", "BILLED", "COST", "BUDGET", "SPENT_OR_HELD"]
    assert row.split() == ["steering", "2", "4h", "$6.00", "$100.00", "$30.00"]
    assert total == "2026-11: $6.00 for 4h of machine time"
    assert scope.startswith("Trainings that ended, and data that was copied, from 2026-11-01")


def test_the_month_is_json_and_a_picture(team: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert team
    assert main(["cost", "--month", "2026-11", "--by", "region", "--plot", "cost.svg", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["usd"]) for row in body["rows"]] == [("us-east-1", 4.0), ("eu-west-1", 2.0)]
    assert "$ paid in 2026-11, added up" in (tmp_path / "cost.svg").read_text()


COLUMNS = ("UsageStartDate", "LineItemType", "ProductCode", "UnblendedCost")
REPORT = f"""{",".join(f"lineItem/{name}" for name in COLUMNS)},resourceTags/user:sweep:run
2026-11-01T00:00:00Z,Usage,AmazonSageMaker,2.5,a
2026-11-30T00:00:00Z,Usage,AmazonSageMaker,3.5,b
2026-11-30T00:00:00Z,Usage,AmazonSageMaker,7,gone
2026-11-30T00:00:00Z,Usage,AmazonSageMaker,1,
2026-11-30T00:00:00Z,Tax,AmazonSageMaker,99,a
2026-12-01T00:00:00Z,Usage,AmazonSageMaker,50,a
"""


def test_the_bill_stands_beside_our_figures_and_says_how_far_they_are_off(
    team: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert team
    (tmp_path / "cur.csv").write_text(REPORT)
    assert main(["cost", "--month", "2026-11", "--by", "run", "--bill", "cur.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:1] + lines[1].split()[4:] == ["b", "$3.50", "14.3%", "too", "high"]
    assert lines[2].split()[:1] + lines[2].split()[4:] == ["a", "$2.50", "20.0%", "too", "low"]
    assert lines[-3:] == [
        "AWS's bill has $6.00 for these runs, so our figures are right",
        "$1.00 of the same services carry no run's tag",
        "only in the bill: gone: $7.00",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--month", "2026-13"], "'2026-13' is no month"),
        (["--month", "2026-11", "--by", "campaign"], "'campaign' is nothing to add up by"),
        (["--by", "day"], "this is for a month"),
        (["a", "--month", "2026-11"], "a run or a month?"),
        (["--month", "2026-11", "--plot", "cost.pdf"], "neither a .svg nor a .png file"),
        (["--month", "2026-11", "--bill", "nowhere.csv"], "cannot be read"),
        (["--month", "2026-10", "--plot", "cost.svg"], "nothing was paid in 2026-10"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    team: Any, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert team
    assert main(["cost", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
