"""What is told of runs: that they have ended, that they are stuck, and how the budgets stand that they draw on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.notices.notice import BUDGET, FAILED, FINISHED, REFUSED, STUCK, Notice
from orchestrator.notices.send import notify
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.budgets.hold import Standing
    from orchestrator.errors import Refused
    from orchestrator.notices.channels import Channels
    from orchestrator.notices.send import Delivery
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.views.status import Status
    from orchestrator.runs.why.hindrance import Hindrance
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.spec.sweep import Sweep


def tell(notice: Notice, sweep: Sweep, cloud: Cloud) -> list[Delivery]:
    """Tell this to whom the sweep file and the settings name. Nothing is raised for what cannot be reached."""
    return notify(notice, channels_of(sweep, cloud), cloud.s3, cloud.clients)


def channels_of(sweep: Sweep, cloud: Cloud) -> list[Channels]:
    """Return who is told what becomes of this sweep's runs: whom the settings name, and whom its file does."""
    its = [sweep.notify.channels] if sweep.notify else []
    return [cloud.account.channels, *its]


def notice_of_end(anchor: Anchor, status: Status, ledger: Ledger) -> Notice | None:
    """Return what is told of a run that has ended; None if it goes on. A retry's end is another event."""
    if not status.finished:
        return None
    counts = {state.value: count for state, count in status.counts.items() if count}
    said = ", ".join(f"{count:,} {state}" for state, count in counts.items())
    bad = status.counts[TaskState.FAILED] > 0
    number = len(ledger.submissions(anchor.name))
    state = status.state.replace("_", " ")
    return Notice(
        FAILED if bad else FINISHED,
        (anchor.name, str(number)),
        f"run {anchor.name} of {anchor.plan.sweep.name} is {state}: {said}, for ${status.usd:,.2f}",
        time.time(),
        anchor.plan.sweep.name,
        anchor.name,
        {"state": status.state, "tasks": status.tasks, "counts": counts, "usd": status.usd, "submission": number},
    )


def notice_of_stuck(anchor: Anchor, hindrances: Sequence[Hindrance]) -> Notice | None:
    """Return what is told of a run that something holds up; None if nothing does. Others are another event."""
    if not hindrances:
        return None
    what = [one.what for one in hindrances]
    worst = max(hindrances, key=lambda one: one.tasks)
    return Notice(
        STUCK,
        (anchor.name, *sorted({_kind(one) for one in what})),
        f"run {anchor.name} of {anchor.plan.sweep.name}: {worst.tasks:,} of its tasks are held up: {worst.what}",
        time.time(),
        anchor.plan.sweep.name,
        anchor.name,
        {"hindrances": [{"tasks": one.tasks, "what": one.what, "hint": one.hint} for one in hindrances]},
    )


def tell_standing(standing: Standing, anchor: Anchor, cloud: Cloud) -> None:
    """Tell that a budget has passed one of its marks, if it has."""
    budget = standing.budget
    if standing.passed:
        text = (
            f"{budget.words}: {standing.passed} % are spent or held, "
            f"${max(standing.left, 0):,.2f} of ${budget.usd:,.2f} are left"
        )
        facts = {"paid": standing.paid, "held": standing.held, "usd": budget.usd, "percent": standing.passed}
        event = (budget.key, str(standing.passed))
        notice = Notice(BUDGET, event, text, time.time(), anchor.plan.sweep.name, anchor.name, facts)
        tell(notice, anchor.plan.sweep, cloud)


def tell_refusal(refused: Refused, anchor: Anchor, cloud: Cloud) -> None:
    """Tell that a run was not made, for no budget can pay it."""
    event, said = (anchor.name, anchor.plan.id), f"run {anchor.name} was not made: {refused}"
    sweep = anchor.plan.sweep
    tell(Notice(REFUSED, event, said, time.time(), sweep.name, anchor.name), sweep, cloud)


def _kind(what: str) -> str:
    """Return a hindrance without its numbers, which change from one look to the next."""
    return "".join("#" if character.isdigit() else character for character in what)
