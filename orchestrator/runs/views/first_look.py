"""A run is looked at because somebody lists it: what cannot be asked now holds up no other run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError, SettingsError, UsageError

if TYPE_CHECKING:
    from orchestrator.runs.run import Run

log = logging.getLogger(__name__)


def look_at(run: Run) -> bool:
    """Bring the database up to date with a run. Return False, with a warning, if that cannot be done now."""
    try:
        run.sync_as_far_as_possible(documents=False)
    except (CloudError, AccessError, UsageError, SettingsError) as error:
        log.warning("how %s stands is not known: %s", run.name, error)
        return False
    return True
