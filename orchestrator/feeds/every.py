"""Which feeds are there?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.feeds import storage, transfers
from orchestrator.platforms import registry

if TYPE_CHECKING:
    from orchestrator.platforms.feed import Feed


def every_feed() -> list[Feed]:
    """Return the feeds of all installed platforms, and those of transfers and storage."""
    brought = (feed for name in registry.platforms() for feed in registry.make_operating(name).feeds())
    return [*brought, transfers.FEED, storage.FEED]
