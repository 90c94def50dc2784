"""Which datasets a sweep trains on; and when there are none, which line of the sweep leaves none."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select as sql

from orchestrator.db.tables import campaign_tags, campaigns, datasets
from orchestrator.errors import CatalogError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Sized

    from sqlalchemy import Connection, Row

    from orchestrator.spec.sweep import Data

LATEST = "latest"


class Chosen(NamedTuple):
    dataset: str
    campaign: str
    version: str
    bytes: int


def select(connection: Connection, data: Data) -> list[Chosen]:
    """By name. Never none: an error says why."""
    wanted = _campaigns(connection, data)
    versions: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(sql(datasets)):
        if row.campaign in wanted:
            versions[row.campaign].append(row)
    found = (_version(versions[name], data.version) for name in wanted)
    chosen = [dataset for dataset in found if dataset is not None]
    missing = wanted - {dataset.campaign for dataset in chosen}
    if missing and (data.campaigns or not chosen):
        raise _no_dataset(sorted(missing), data.version, versions)
    return sorted(Chosen(each.dataset, each.campaign, each.version, each.bytes) for each in chosen)


def named(connection: Connection, names: Sequence[str]) -> list[Chosen]:
    """Those of these datasets that there are, in this order."""
    known = {row.dataset: row for row in connection.execute(sql(datasets))}
    rows = [known[name] for name in names if name in known]
    return [Chosen(row.dataset, row.campaign, row.version, row.bytes) for row in rows]


def _campaigns(connection: Connection, data: Data) -> set[str]:
    """The names of the campaigns that match every line of the sweep."""
    known = {row.campaign: row for row in connection.execute(sql(campaigns))}
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
    its: dict[str, set[str]] = defaultdict(set)
    for row in connection.execute(sql(campaign_tags)):
        if row.campaign in names:
            its[row.campaign].add(row.tag)
    left = {name for name in names if its[name].issuperset(tags)}
    if not left:
        known = sorted(set().union(*its.values()))
        unknown = next((tag for tag in tags if tag not in known), None)
        if unknown is not None:
            raise CatalogError(f"{_none_of(names, 'has')} the tag {unknown!r}", hint=did_you_mean(unknown, known))
        raise CatalogError(f"{_none_of(names, 'has')} all of the tags {', '.join(tags)}")
    return left


def _recorded(rows: list[Row[Any]], data: Data) -> set[str]:
    """Those recorded in these days, wholly or partly. One whose days are not known is not."""
    left = {
        row.campaign
        for row in rows
        if (first := row.recorded_from or row.recorded_to) is not None
        and (last := row.recorded_to or row.recorded_from) is not None
        and (data.recorded_from is None or last >= data.recorded_from)
        and (data.recorded_to is None or first <= data.recorded_to)
    }
    if not left:
        raise _not_recorded(rows, data)
    return left


def _not_recorded(rows: list[Row[Any]], data: Data) -> CatalogError:
    first = f" from {data.recorded_from}" if data.recorded_from else ""
    last = f" to {data.recorded_to}" if data.recorded_to else ""
    days = [day for row in rows for day in (row.recorded_from, row.recorded_to) if day is not None]
    one = len(rows) == 1
    hint = (
        f"{'it was' if one else 'they were'} recorded {min(days)} to {max(days)}"
        if days
        else f"{'its' if one else 'their'} days are not in the catalog"
    )
    return CatalogError(f"{_none_of(rows, 'was')} recorded{first}{last}", hint=hint)


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


def few(names: Iterable[str], limit: int = 5) -> str:
    """At most this many names, and how many more there are."""
    every = list(names)
    shown = every if len(every) <= limit + 1 else every[:limit]
    more = len(every) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _none_of(campaigns: Sized, verb: str) -> str:
    if len(campaigns) == 1:
        return f"the one campaign asked for {verb} not"
    return f"none of the {len(campaigns):,} campaigns asked for {verb}"
