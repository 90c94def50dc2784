"""Reads feeds, Regions side by side. Each feed of a Region lands whole or not at all; one that fails stops no other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_code
from orchestrator.catalog.files.observe import Observed
from orchestrator.catalog.market import ANY
from orchestrator.errors import (
    AccessDenied,
    NoCredentials,
    NotFound,
    SettingsError,
    SweepError,
    UsageError,
    did_you_mean,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence
    from datetime import datetime

    from orchestrator.aws.session import Clients
    from orchestrator.catalog.files.observe import Taken
    from orchestrator.platforms.feed import Feed, Reading

AT_ONCE = 16
"""Questions that are asked of AWS at the same time."""
_OF_A_CLOSED_REGION = (
    "AuthFailure",
    "InvalidClientTokenId",
    "InvalidToken",
    "OptInRequired",
    "UnrecognizedClientException",
)
"""What AWS answers to good credentials in a Region that the account has not enabled; and to wrong ones everywhere."""


@dataclass(frozen=True)
class Refreshed:
    """What became of one feed in one Region."""

    feed: str
    region: str
    added: int = 0
    unchanged: int = 0
    removed: int = 0
    """What the feed told before, and is there no longer."""
    left_out: tuple[str, ...] = ()
    """What AWS told, but is of no use: a line each."""
    error: SweepError | None = None
    """Why nothing was brought: what the catalog knew before, it still knows."""
    missing_actions: tuple[str, ...] = ()
    """The IAM actions that somebody must allow, where that is why."""


def choose_feeds(feeds: Iterable[Feed], names: Sequence[str]) -> list[Feed]:
    """Return the feeds with these names, or all if none is named, but those that have to be.

    Raise UsageError for an unknown name.
    """
    known = {feed.name: feed for feed in feeds}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no feed {name!r}", hint=did_you_mean(name, list(known)))
    return [feed for name, feed in known.items() if (name in names if names else not feed.only_if_named)]


@dataclass(frozen=True)
class Refresh:
    """Brings what feeds tell of some Regions into a catalog."""

    observe: Callable[[Observed], Taken]
    """Takes the facts into the catalog: see `catalog.files.observe`."""
    clients: Clients
    now: datetime
    home: str = ""
    """The control Region, if feeds that are read `at_home` are to be read there whatever other Regions are named."""

    def run(
        self, feeds: Sequence[Feed], regions: Sequence[str], young: Container[tuple[str, str]] = ()
    ) -> Iterator[Refreshed]:
        """Yield what became of each feed in each Region, Region by Region. Raise NoCredentials if there are none.

        They are read at the same time, and written one after the other. In a Region that is in the order of the feeds:
        what is billed for spot is told by prices on demand, which come before it. Region by Region, the questions of a
        moment go to many services, so that none of them gets more of them than it takes. Feeds of Regions whose names
        are among the `young` are not asked.
        """
        pairs = [(feed, region) for region in regions for feed in feeds if not feed.everywhere]
        pairs += [(feed, self.home) for feed in feeds if feed.at_home and self.home and self.home not in regions]
        pairs += [(feed, ANY) for feed in feeds if feed.everywhere]
        pairs = [(feed, region) for feed, region in pairs if (feed.name, region) not in young]
        with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
            asked = [pool.submit(feed.read, self.clients, region, self.now) for feed, region in pairs]
            try:
                for (feed, region), answer in zip(pairs, asked, strict=True):
                    yield self._take(feed, region, answer.result)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _take(self, feed: Feed, region: str, read: Callable[[], Reading]) -> Refreshed:
        try:
            reading = read()
            if not reading.rows and not reading.left_out and not feed.may_be_empty:
                raise NotFound("AWS knows nothing of it there", where=region, hint="is that the name of a Region?")
            counts, alone, to_come = self.observe(Observed(feed.name, feed.kind, region, self.now, reading.rows))
        except NoCredentials as error:
            if aws_code(error) not in _OF_A_CLOSED_REGION:
                raise  # whatever else is asked, it is the same
            return Refreshed(feed.name, region, error=_closed(error, region))
        except SettingsError:
            raise
        except AccessDenied as error:
            return Refreshed(feed.name, region, error=error, missing_actions=feed.actions)
        except SweepError as error:
            return Refreshed(feed.name, region, error=error)
        left_out = reading.left_out
        if alone:
            left_out += (f"{alone} spot prices of types without a price on demand",)
        if to_come:
            left_out += (f"{to_come} observations of times to come, by a wrong clock: they were removed",)
        added = counts.inserted + counts.updated
        return Refreshed(feed.name, region, added, counts.unchanged, counts.removed, left_out)


def _closed(error: NoCredentials, region: str) -> NoCredentials:
    """Return an error that says what else such an answer may mean."""
    hint = f"if they are taken elsewhere, {region} is not enabled in this account"
    return NoCredentials(error.message, where=error.where, hint=hint)
