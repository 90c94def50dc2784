"""The limit of a live run: set by whoever looks at it, held by its launchers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.aws.turns import Turns
from orchestrator.errors import Refused, UsageError
from orchestrator.plan.facts import QuotaFact
from orchestrator.runs.limit import change_limit, most_slots
from orchestrator.runs.views.status import run_status
from orchestrator.runs.why.findings import find_causes
from orchestrator.runs.written.anchor import submissions
from orchestrator.wire.task import Quota
from tests.launcher.fakes import RUNNING, Life
from tests.runs.bench import LANES, plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk


@pytest.fixture
def anchor(desk: Desk) -> Anchor:
    """A run of four tasks that may all run at once, of which the first does."""
    desk.platform.lives = [Life(looks=[RUNNING] * 50)]
    anchor = desk.submit(desk.anchor(plan(tasks=4, slots=4)))
    driver = desk.launcher(anchor, 0)
    driver._load()
    for _ in range(3):
        driver._take_step()
    return anchor


def limit(desk: Desk, anchor: Anchor, **slots: int) -> None:
    named = {{"all": "", "lane": str(LANES[0])}.get(what, what.replace("_", "-")): n for what, n in slots.items()}
    change_limit(anchor, named, desk.ledger(), desk.cloud())


def test_what_runs_is_counted_when_the_limit_is_set(desk: Desk, anchor: Anchor) -> None:
    limit(desk, anchor, all=1)
    turns = Turns(desk.cloud().control(anchor.name))
    assert turns.limit().counted
    assert turns.running() == {0: [(LANES[0], 1)]}
    second = desk.launcher(anchor, 1)
    second._load()
    second._take_step()
    assert desk.cloud().control(anchor.name).recorded() == [(0, 1)]
    limit(desk, anchor, all=2)
    second._take_step()
    assert desk.cloud().control(anchor.name).recorded() == [(0, 1), (1, 1)]


def test_while_it_is_counted_nothing_begins(desk: Desk, anchor: Anchor) -> None:
    """A `sweep limit` that is killed on its way leaves the limit as it is here."""
    killed = RuntimeError("killed")

    def kill(operation: str) -> None:
        if operation == "put" and anchor.keys.limit in desk.bucket.objects:
            raise killed

    desk.bucket.before = kill
    with pytest.raises(RuntimeError):
        limit(desk, anchor, all=4)
    desk.bucket.before = lambda _: None
    second = desk.launcher(anchor, 1)
    second._load()
    second._take_step()
    assert desk.cloud().control(anchor.name).recorded() == [(0, 1)]
    limit(desk, anchor, all=4)
    second._take_step()
    assert desk.cloud().control(anchor.name).recorded() == [(0, 1), (1, 1)]


def test_the_status_and_the_outlook_tell_it(desk: Desk, anchor: Anchor) -> None:
    free = run_status(anchor, desk.ledger(), desk.time.now).outlook
    limit(desk, anchor, all=1)
    status = run_status(anchor, desk.ledger(), desk.time.now)
    assert status.limit == {"": 1}
    assert free
    assert status.outlook
    assert status.outlook.ends_at == pytest.approx(desk.time.now + 4 * 1800)
    assert status.outlook.ends_at > free.ends_at
    limit(desk, anchor)
    assert run_status(anchor, desk.ledger(), desk.time.now).limit == {}


def test_another_machine_sees_it(desk: Desk, anchor: Anchor) -> None:
    limit(desk, anchor, lane=2)
    desk.sync(anchor, "theirs")
    assert run_status(anchor, desk.ledger("theirs"), desk.time.now).limit == {str(LANES[0]): 2}


def test_why_tells_it_instead_of_calling_launchers_silent(desk: Desk, anchor: Anchor) -> None:
    limit(desk, anchor, all=1)
    made = list(submissions(desk.bucket, anchor.name))
    causes = find_causes(anchor, made, desk.ledger(), desk.cloud(), desk.time.now + 3600)
    assert any("limited to slots: 1 in all; 1 are held" in one.what for one in causes)
    assert not any("written nothing down" in one.what for one in causes)


@pytest.mark.parametrize("what", ["all", "us_east_1", "lane"])
def test_more_than_the_plan_has_is_refused(desk: Desk, anchor: Anchor, what: str) -> None:
    with pytest.raises(Refused, match="5 slots are more than the 4 that tasks and quotas allow"):
        limit(desk, anchor, **{what: 5})
    assert anchor.keys.limit not in desk.bucket.objects
    limit(desk, anchor, **{what: 4})


def test_what_the_plan_has_not_is_refused_with_what_it_has(desk: Desk, anchor: Anchor) -> None:
    with pytest.raises(UsageError, match=r"is no Region and no lane of the plan \(did you mean 'us-east-1'"):
        limit(desk, anchor, us_east_2=1)


def test_a_run_that_has_ended_is_not_limited(desk: Desk, anchor: Anchor) -> None:
    desk.cancel(anchor)
    with pytest.raises(UsageError, match="has ended"):
        limit(desk, anchor, all=1)


def test_the_limit_of_a_run_that_has_ended_is_told_and_can_be_lifted_for_a_retry(desk: Desk, anchor: Anchor) -> None:
    limit(desk, anchor, all=1)
    desk.cancel(anchor)
    assert run_status(anchor, desk.ledger(), desk.time.now).limit == {"": 1}
    limit(desk, anchor)
    assert run_status(anchor, desk.ledger(), desk.time.now).limit == {}


def test_instances_are_counted_not_tasks() -> None:
    made = plan(tasks=4, slots=8)
    share = made.shares[0]
    wide = replace(made, shares=(replace(share, places=(replace(share.places[0], instances=2),)),))
    assert most_slots(wide) == 8
    assert most_slots(wide, "us-east-1") == 8
    assert most_slots(wide, "eu-west-1") == 0


def test_quotas_are_counted_not_what_a_plan_was_left_of_them() -> None:
    made = plan(tasks=9, slots=2)
    quota = Quota("fake", "us-east-1", "own")
    assert made.lots[0].quotas == {quota: 1}
    assert most_slots(replace(made, quotas=(QuotaFact(quota, 6),))) == 6
    assert most_slots(replace(made, quotas=(QuotaFact(quota, 60),))) == 9
