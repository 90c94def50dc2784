"""What is told of a challenger: that it was promoted, or why it was not."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from orchestrator.notices.notice import PROMOTED, REFUSED, Notice

if TYPE_CHECKING:
    from orchestrator.models.models import Decision
    from orchestrator.models.promotion import Promotion


def notice_of_decision(decision: Decision) -> Notice:
    """Return what is told of a decision. The same decision, made again, is the same event."""
    model = decision.challenger
    facts = {"challenger": asdict(model), "champion": decision.champion.number if decision.champion else 0}
    event = (model.workload, model.run, str(model.task))
    said = "promoted" if decision.promoted else "not promoted"
    kind = PROMOTED if decision.promoted else REFUSED
    return Notice(
        kind, event, f"{model.workload}: {said}: {decision.why}", time.time(), model.workload, model.run, facts
    )


def notice_of_rollback(made: Promotion) -> Notice:
    """Return what is told of a rollback."""
    model = made.model
    event, text = (model.workload, str(made.number)), f"{model.workload}: {made.by} rolled back: {made.why}"
    return Notice(PROMOTED, event, text, made.at, model.workload, model.run, {"number": made.number})
