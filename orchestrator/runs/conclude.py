"""What is done once a run has ended: its budgets get back what it did not need, and others are told."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError
from orchestrator.runs.sending.envelopes import settle_run
from orchestrator.runs.telling import notice_of_end, tell
from orchestrator.runs.views.status import run_status

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor

log = logging.getLogger(__name__)


def conclude(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> None:
    """Settle the budgets of a run and tell of its end, if it has ended. What cannot be reached is warned of."""
    try:
        settle_run(anchor, ledger, cloud)
    except (CloudError, AccessError) as error:
        log.warning("the budgets of run %s still hold what it may have cost: %s", anchor.name, error)
    notice = notice_of_end(anchor, run_status(anchor, ledger, time.time()), ledger)
    if notice:
        tell(notice, anchor.plan.sweep, cloud)
