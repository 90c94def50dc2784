"""The feeds that there are, and the catalog that they fill."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError
from orchestrator.feeds import transfers
from orchestrator.feeds.refresh import Refresh, choose_feeds
from orchestrator.platforms import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.catalog.catalog import Catalog
    from orchestrator.feeds.refresh import Refreshed
    from orchestrator.platforms.feed import Feed


class Feeds:
    """Everything that AWS can be asked about prices and quotas."""

    def __init__(self, catalog: Catalog, clients: Clients) -> None:
        self._catalog = catalog
        self._clients = clients

    def all(self) -> list[Feed]:
        """Return the feeds of all installed platforms, and that of transfers."""
        brought = (feed for name in registry.platforms() for feed in registry.make_operating(name).feeds())
        return [*brought, transfers.FEED]

    def refresh(self, names: Sequence[str] = (), regions: Sequence[str] = ()) -> Iterator[Refreshed]:
        """Bring AWS's facts into the catalog, and yield what became of each feed in each Region.

        All feeds are read, if none is named, in the Regions that the catalog knows. Raise UsageError for an unknown
        feed, and if there is no Region.
        """
        chosen = choose_feeds(self.all(), names)
        wanted = list(dict.fromkeys(regions)) or self._catalog.regions()
        if not wanted:
            raise UsageError(
                "the catalog knows no Region yet", hint="name some, such as --region us-east-1 --region eu-west-1"
            )
        now = datetime.now(timezone.utc)
        return Refresh(self._catalog.observe, self._clients, now).run(chosen, wanted)
