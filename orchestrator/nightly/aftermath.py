"""What is done when the runs of a night have ended: envelopes given back, people told, the best model promoted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.models.models import Models
from orchestrator.models.telling import notice_of_decision
from orchestrator.notices.notice import ALARM, Notice
from orchestrator.orchestrator import Orchestrator
from orchestrator.runs.sending.envelopes import settle_run
from orchestrator.runs.telling import notice_of_end, notice_of_stuck, tell

if TYPE_CHECKING:
    from orchestrator.nightly.goal import Goal
    from orchestrator.notices.send import Delivery
    from orchestrator.runs.run import Run


def close_run(team: Orchestrator, run: Run) -> None:
    """Give back what an ended run did not need of its budgets, and tell that it has ended. Repeating is harmless."""
    settle_run(run.anchor, team.ledger, team.cloud)
    notice = notice_of_end(run.anchor, run.status(), team.ledger)
    if notice:
        tell(notice, run.plan.sweep, team.cloud)


def judge_run(team: Orchestrator, run: Run, who: str) -> str:
    """Hold the best task of a run against the champion, promote it if it is better, and tell. Return why, in a line."""
    decision = Models(team.cloud, who, team.catalog.mark).challenge(run)
    tell(notice_of_decision(decision), run.plan.sweep, team.cloud)
    return f"{'promoted' if decision.promoted else 'not promoted'}: {decision.why}"


def tell_if_stuck(team: Orchestrator, name: str) -> None:
    """Tell what holds up a run, if something does. The same hindrances are told once."""
    run = team.run(name)
    run.sync_as_far_as_possible(documents=False)
    notice = None if run.status().finished else notice_of_stuck(run.anchor, run.why())
    if notice:
        tell(notice, run.plan.sweep, team.cloud)


def raise_alarm(goal: Goal, night: str, said: str) -> list[Delivery]:
    """Tell that something is wrong with a night, and return whom. The same words of the same night are told once.

    No catalog is needed: that there is none may be what is wrong.
    """
    cloud = Orchestrator(goal.settings(goal.database or "sqlite://")).cloud
    event = (goal.schedule, night, said)
    text = f"the night {night} of the schedule {goal.schedule}: {said}"
    return tell(Notice(ALARM, event, text, time.time(), goal.sweep.name, "", {"night": night}), goal.sweep, cloud)
