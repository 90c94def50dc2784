"""Selects the datasets that a sweep trains on. If there are none, an error names the line that leaves none."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from orchestrator.catalog.wording import few
from orchestrator.db.tables import campaign_tags, campaigns, datasets
from orchestrator.errors import CatalogError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

    from sqlalchemy import Connection, Row

    from orchestrator.spec.sweep import Data

LATEST = "latest"


class Chosen(NamedTuple):
    """A dataset to train on."""

    dataset: str
    campaign: str
    version: str
    bytes: int


def select_datasets(connection: Connection, data: Data) -> list[Chosen]:
    """Return the datasets that match every line of the sweep's `data`, sorted by name.

    Raise CatalogError if there are none, or if a campaign that the sweep names has none.
    """
    wanted = _campaigns(connection, data)
    versions: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(select(datasets)):
        if row.campaign in wanted:
            versions[row.campaign].append(row)
    found = (_version(versions[name], data.version) for name in wanted)
    chosen = [dataset for dataset in found if dataset is not None]
    missing = wanted - {dataset.campaign for dataset in chosen}
    if missing and (data.campaigns or not chosen):
        raise _no_dataset(sorted(missing), data.version, versions)
    return sorted(Chosen(each.dataset, each.campaign, each.version, each.bytes) for each in chosen)


def datasets_named(connection: Connection, names: Sequence[str]) -> list[Chosen]:
    """Return the datasets with these names, in this order. Those that do not exist are left out."""
    known = {row.dataset: row for row in connection.execute(select(datasets))}
    rows = [known[name] for name in names if name in known]
    return [Chosen(row.dataset, row.campaign, row.version, row.bytes) for row in rows]


def _campaigns(connection: Connection, data: Data) -> set[str]:
    """Return the names of the campaigns that match every line of the sweep."""
    known = {row.campaign: row for row in connection.execute(select(campaigns))}
    if not known:
        raise CatalogError("the catalog has no campaigns", hint="sweep catalog load FILES")
    for name in data.campaigns:
        if name not in known:
            raise CatalogError(f"no campaign is called {name!r}", hint=did_you_mean(name, sorted(known)))
    left = set(data.campaigns or known)
    if data.tags:
        left = _tagged(connection, left, data.tags)
    if data.recorded_from or data.recorded_to:
        left = _recorded([known[name] for name in left], data)
    return left


def _tagged(connection: Connection, names: set[str], tags: list[str]) -> set[str]:
    tags_of: dict[str, set[str]] = defaultdict(set)
    for row in connection.execute(select(campaign_tags)):
        if row.campaign in names:
            tags_of[row.campaign].add(row.tag)
    left = {name for name in names if tags_of[name].issuperset(tags)}
    if not left:
        known = sorted(set().union(*tags_of.values()))
        unknown = next((tag for tag in tags if tag not in known), None)
        if unknown is not None:
            raise CatalogError(f"{_none_of(names, 'has')} the tag {unknown!r}", hint=did_you_mean(unknown, known))
        raise CatalogError(f"{_none_of(names, 'has')} all of the tags {', '.join(tags)}")
    return left


def _recorded(rows: list[Row[Any]], data: Data) -> set[str]:
    """Return the campaigns that were recorded in these days, wholly or partly."""
    left = {row.campaign for row in rows if _overlaps(row, data)}
    if not left:
        raise _not_recorded(rows, data)
    return left


def _overlaps(row: Row[Any], data: Data) -> bool:
    """Return True if the campaign was recorded on one of these days. One whose days are not known was not."""
    first_day = row.recorded_from or row.recorded_to
    last_day = row.recorded_to or row.recorded_from
    if first_day is None:
        return False
    ends_before = data.recorded_from is not None and last_day < data.recorded_from
    begins_after = data.recorded_to is not None and first_day > data.recorded_to
    return not ends_before and not begins_after


def _not_recorded(rows: list[Row[Any]], data: Data) -> CatalogError:
    from_day = f" from {data.recorded_from}" if data.recorded_from else ""
    to_day = f" to {data.recorded_to}" if data.recorded_to else ""
    days = [day for row in rows for day in (row.recorded_from, row.recorded_to) if day is not None]
    they_were, their = ("it was", "its") if len(rows) == 1 else ("they were", "their")
    hint = f"{they_were} recorded {min(days)} to {max(days)}" if days else f"{their} days are not in the catalog"
    return CatalogError(f"{_none_of(rows, 'was')} recorded{from_day}{to_day}", hint=hint)


def _version(rows: list[Row[Any]], version: str) -> Row[Any] | None:
    if version == LATEST:
        return max(rows, key=lambda row: (row.created_at, row.version), default=None)
    return next((row for row in rows if row.version == version), None)


def _no_dataset(missing: list[str], version: str, versions: dict[str, list[Row[Any]]]) -> CatalogError:
    names = few(missing)
    known = sorted({row.version for name in missing for row in versions[name]})
    if version == LATEST or not known:
        return CatalogError(f"no dataset of {names} is in the catalog", hint="sweep catalog load datasets.csv")
    return CatalogError(f"no dataset of {names} has version {version!r}", hint=did_you_mean(version, known))


def _none_of(campaigns: Sized, verb: str) -> str:
    if len(campaigns) == 1:
        return f"the one campaign asked for {verb} not"
    return f"none of the {len(campaigns):,} campaigns asked for {verb}"
