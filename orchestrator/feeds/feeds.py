"""The feeds that there are, and the catalog that they fill."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING

from orchestrator import files
from orchestrator.aws.s3 import S3
from orchestrator.db.foreign import read_query
from orchestrator.errors import CatalogError, UsageError, did_you_mean
from orchestrator.feeds.campaign_database import split_rows
from orchestrator.feeds.discover import compare_folders, rows_of
from orchestrator.feeds.elsewhere import Elsewhere, known_replicas
from orchestrator.feeds.every import every_feed
from orchestrator.feeds.inventory import open_inventories
from orchestrator.feeds.look import look_through
from orchestrator.feeds.pattern import USUAL, Pattern
from orchestrator.feeds.refresh import Refresh, choose_feeds
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from orchestrator.aws.session import Clients
    from orchestrator.catalog.catalog import Catalog
    from orchestrator.catalog.files.load import LoadReport
    from orchestrator.feeds.discover import Finding
    from orchestrator.feeds.look import Folder
    from orchestrator.feeds.refresh import Refreshed
    from orchestrator.platforms.feed import Feed


@dataclass(frozen=True)
class Discovered:
    """What was found in S3, beside what the catalog knew."""

    findings: tuple[Finding, ...]
    changed: frozenset[str]
    """Addresses of replicas whose objects are not what they were."""
    removed: tuple[str, ...]
    """Addresses of the catalog's replicas, below what was looked through, that are none any more."""
    unseen: tuple[str, ...]
    """Addresses of other replicas of what has changed, which were not looked at."""
    odd: tuple[str, ...]
    """Addresses of objects whose keys do not fit the pattern."""
    inventories: tuple[tuple[str, datetime], ...] = ()
    """Buckets that were not listed, and when the inventory was made that told of each."""


class Feeds:
    """Everything that AWS can be asked about prices, quotas, and where data lies."""

    def __init__(
        self,
        catalog: Catalog,
        clients: Clients,
        region: str,
        regions: Sequence[str] = (),
        addresses: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Take a Region in which AWS may be asked about buckets of any other, and those that the settings train in.

        `addresses` says by name of a feed where its public file is read instead.
        """
        self._catalog = catalog
        self._clients = clients
        self._region = region
        self._regions = regions
        self._addresses = addresses

    def all(self) -> list[Feed]:
        """Return the feeds of all installed platforms, and those of transfers and storage."""
        return [self._moved(feed) for feed in every_feed()]

    def _moved(self, feed: Feed) -> Feed:
        address = self._addresses.get(feed.name)
        return feed.at(address) if feed.at and address else feed

    def refresh(
        self, names: Sequence[str] = (), regions: Sequence[str] = (), *, only_old: bool = False
    ) -> Iterator[Refreshed]:
        """Bring AWS's facts into the catalog, and yield what became of each feed in each Region.

        All feeds are read, if none is named, in the Regions that the catalog or the settings know. What data costs to
        keep is read in the control Region, too. With `only_old`
        those are left out that were read not long ago, as the setting `max_age` says. Raise UsageError for an unknown
        feed or Region, and if there is no Region.
        """
        chosen = choose_feeds(self.all(), names)
        self._check_regions(regions)
        wanted = list(dict.fromkeys(regions)) or sorted({*self._catalog.regions(), *self._regions})
        if not wanted:
            raise UsageError(
                "the catalog knows no Region yet", hint="name some, such as --region us-east-1 --region eu-west-1"
            )
        now = datetime.now(timezone.utc)
        young = self._young(chosen, now) if only_old else frozenset()
        home = "" if regions else self._region
        return Refresh(self._catalog.observe, self._clients, now, home).run(chosen, wanted, young)

    def _young(self, feeds: Sequence[Feed], now: datetime) -> frozenset[tuple[str, str]]:
        """Return the feeds and Regions whose facts are not too old yet. What is told as it is now is never young."""
        ages = {feed.name: self._catalog.ages.of_kind(feed.kind, is_spot=feed.is_spot) for feed in feeds}
        read = self._catalog.refreshed()
        return frozenset(key for key, at in read.items() if (age := ages.get(key[0])) and now - at <= age)

    def _check_regions(self, regions: Sequence[str]) -> None:
        """Raise UsageError for the first that is no Region: AWS is not asked about it, nor for credentials."""
        known = self._clients.regions("s3", self._region) if regions else []
        for name in regions:
            if name not in known:
                near = did_you_mean(name, known)
                raise UsageError(f"there is no Region {name!r}", hint=f"{near}; a newer boto3 may know more")

    def discover(
        self, places: Sequence[str], pattern: str = USUAL, *, keep: bool = True, inventories: Sequence[str] = ()
    ) -> Discovered:
        """Find datasets below these addresses in S3, and unless `keep` is false, take their replicas into the catalog.

        The newest of each of these S3 Inventories says what lies in its bucket, which then is not listed.

        All of them are taken in or none, and replicas below these addresses that are none any more are removed. Those
        that the catalog knows from elsewhere stay. Raise UsageError for what is no address or no pattern, CatalogError
        where nothing is found.
        """
        parsed = Pattern.parse(pattern)
        told = open_inventories(self._clients, self._region, inventories)
        looks = look_through(self._clients, self._region, places, parsed, told)
        folders = [folder for look in looks for folder in look.folders]
        looked = tuple(look.uri for look in looks)
        told_before = known_replicas(self._catalog.show("replicas"), self._catalog.show("datasets"))
        elsewhere = Elsewhere(told_before, looked)
        findings = tuple(elsewhere.doubt(one) for one in compare_folders(folders, self._is_encrypted))
        known = {one.uri: one for one in told_before}
        replicas = {one.folder.uri: one.folder for one in findings if one.is_replica}
        below = [uri for uri in known if uri.startswith(looked) and uri not in replicas]
        removed = tuple(sorted(uri for uri in below if self._is_none(uri, known[uri].region, folders)))
        if keep:
            shared = {(one.campaign, one.version) for one in folders if elsewhere.others(one)}
            self._catalog.take(rows_of(findings, shared), "discovered", without=removed)
        changed = {uri for uri, folder in replicas.items() if uri in known and known[uri].mark != folder.mark}
        changed = {uri for uri in changed if known[uri].mark is not None}
        datasets = {known[uri].dataset for uri in changed}
        others = sorted(uri for uri, one in known.items() if one.dataset in datasets and not uri.startswith(looked))
        odd = tuple(uri for look in looks for uri in look.odd)
        made = tuple((name, told[name].made_at) for name in sorted(told))
        return Discovered(findings, frozenset(changed), removed, tuple(others), odd, made)

    def _is_none(self, uri: str, region: str, folders: Sequence[Folder]) -> bool:
        """Return whether a replica that the catalog knows is a folder that is none, or lies nowhere."""
        if any(folder.uri == uri for folder in folders):
            return True
        at = S3Uri.parse(uri)
        return not S3(self._clients, region, at.bucket).has_any(at.key)

    def import_campaigns(self, url: str, query: Path) -> LoadReport:
        """Take the rows of a query of another database into the catalog: all of them or none. Nothing is written there.

        Raise CatalogError for what cannot be read, or is wrong with a row, by its number.
        """
        names, rows = read_query(url, _read_text(query))
        return self._catalog.take(split_rows(names, rows, query.name), query.name)

    def _is_encrypted(self, folder: Folder) -> bool:
        first = min(folder.objects.values(), key=lambda item: item.key)
        return S3(self._clients, folder.region, folder.bucket).has_kms_key(first.key)


def _read_text(query: Path) -> str:
    """Return what is in the file of a query. CatalogError if it is none, or is no text."""
    try:
        text = files.read(query).decode()
    except OSError as error:
        raise CatalogError(f"cannot be read: {error.strerror}", where=str(query)) from error
    except UnicodeDecodeError as error:
        raise CatalogError("is not UTF-8 text", where=str(query)) from error
    if not text.strip():
        raise CatalogError("is empty", where=str(query), hint="write a SELECT")
    return text
