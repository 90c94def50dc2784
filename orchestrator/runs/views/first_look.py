"""A run is looked at because somebody lists it: what cannot be asked now holds up no other run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError, Damaged, NewerVersion, SettingsError, UsageError
from orchestrator.runs.views.status import RunRow

if TYPE_CHECKING:
    from orchestrator.runs.run import Run
    from orchestrator.runs.runs import Runs

log = logging.getLogger(__name__)

NEW_LOOKS = 20
"""Runs that are looked at for the first time because somebody lists them."""


def list_runs(runs: Runs, *, sync: bool) -> list[RunRow]:
    """Return all runs, newest first; without `sync`, those that the database knows.

    With it, the newest of those at which nobody here has ever looked are looked at now. How others stand at which
    nobody has looked is not known.
    """
    if sync:
        for line in runs.learn():
            log.warning("%s", line)
    rows, looks = [], NEW_LOOKS if sync else 0
    for name in runs.ledger.names():
        try:
            run = runs.listed(name)
            known = runs.ledger.is_looked_at(name)
            if not known and looks:
                looks -= 1
                known = look_at(run)
            status = run.status()
        except (Damaged, NewerVersion) as error:
            runs.ledger.damage.note(error)
            continue
        state, usd = (status.state, status.usd) if known else ("unknown", None)
        rows.append(RunRow(name, status.created_at, status.tasks, state, usd))
    return rows


def look_at(run: Run) -> bool:
    """Bring the database up to date with a run. Return False, with a warning, if that cannot be done now."""
    try:
        run.sync_as_far_as_possible(documents=False)
    except (CloudError, AccessError, UsageError, SettingsError) as error:
        log.warning("how %s stands is not known: %s", run.name, error)
        return False
    return True
