"""Loads CSV and Parquet files into the catalog: all of a call or nothing. Loading them twice changes nothing."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, exists, insert, select

from orchestrator.catalog.files.formats import SUFFIXES
from orchestrator.catalog.files.incoming import Counts, IncomingRows
from orchestrator.catalog.files.kinds import KINDS, Kind
from orchestrator.catalog.files.rows import CatalogFile
from orchestrator.db import tables
from orchestrator.db.engine import writing
from orchestrator.errors import CatalogError, did_you_mean
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from orchestrator.catalog.platforms import Platforms

_NAMES_HINT = f"they are called {', '.join(KINDS)}, with {' or '.join(SUFFIXES)}"
_MANY = 10_000
"""An error suggests the nearest name only if there are fewer names than this."""


@dataclass(frozen=True)
class LoadReport:
    """What became of the rows, by table."""

    counts: Mapping[str, Counts]

    @property
    def changed(self) -> bool:
        """True if the catalog is not what it was."""
        return any(counts.inserted or counts.updated or counts.removed for counts in self.counts.values())


def load(engine: Engine, platforms: Platforms, paths: Iterable[Path], kind: str | None = None) -> LoadReport:
    """Load these files, and all catalog files in these folders, in one transaction.

    A file is of the kind that its name says, unless `kind` is given. Raise CatalogError for the first thing that is
    wrong, at file:line:column; then nothing is loaded.
    """
    files = _files(paths, kind)
    counts: dict[str, Counts] = {}
    with writing(engine) as connection, ExitStack() as open_tables:
        loaded: list[tuple[CatalogFile, IncomingRows]] = []
        for file in files:
            incoming = open_tables.enter_context(IncomingRows(connection, file.kind.table, len(loaded)))
            loaded.append((file, incoming))
            for table, its_counts in _load(file, platforms, incoming, connection).items():
                counts[table] = counts.get(table, Counts()) + its_counts
        for file, incoming in loaded:
            if file.kind.table is tables.prices:
                _refuse_spot_alone(file, incoming)
    return LoadReport(counts)


def _files(paths: Iterable[Path], kind: str | None) -> list[CatalogFile]:
    """Return every file to load, those first that others refer to.

    A folder stands for all files in it that are called like a kind.
    """
    if kind is not None and kind not in KINDS:
        raise CatalogError(f"unknown kind {kind!r}", hint=did_you_mean(kind, list(KINDS)))
    found: list[CatalogFile] = []
    for path in paths:
        if path.is_dir():
            inside = [file for file in sorted(path.iterdir()) if file.suffix in SUFFIXES and file.stem in KINDS]
            if not inside:
                raise CatalogError("no catalog files in this folder", where=str(path), hint=_NAMES_HINT)
            found += [CatalogFile(file, KINDS[file.stem]) for file in inside]
        else:
            found.append(CatalogFile(path, _kind(path, kind)))
    order = list(KINDS.values())
    return sorted(found, key=lambda file: order.index(file.kind))


def _kind(file: Path, kind: str | None) -> Kind:
    if not file.exists():
        raise CatalogError("no such file", where=str(file))
    if file.suffix not in SUFFIXES:
        raise CatalogError(f"neither {' nor '.join(SUFFIXES)}", where=str(file))
    name = kind or file.stem
    if name not in KINDS:
        hint = did_you_mean(name, list(KINDS))
        raise CatalogError(f"{name!r} is no kind of catalog file", where=str(file), hint=hint)
    return KINDS[name]


def _load(file: CatalogFile, platforms: Platforms, incoming: IncomingRows, connection: Connection) -> dict[str, Counts]:
    tags: dict[str, Sequence[str]] = {}
    for rows in file.rows(platforms):
        if file.kind.table is tables.campaigns:
            tags |= {row["campaign"]: row.pop("tags") for row in rows}
        incoming.add(rows)
    _refuse_duplicates(file, incoming)
    _refuse_orphans(file, incoming, connection)
    columns = file.kind.table.columns
    given = file.kind.given(file.given)
    along = ["source"] if "source" in columns and "source" not in given else []
    counts = {file.kind.table.name: incoming.merge(given, along)}
    if "tags" in file.given:
        counts[tables.campaign_tags.name] = _replace_tags(connection, tags)
    return counts


def _refuse_duplicates(file: CatalogFile, incoming: IncomingRows) -> None:
    if found := incoming.first_duplicate():
        earlier, later = found
        keys = ", ".join(column.name for column in file.kind.table.primary_key)
        raise file.error(f"the same {keys} as in line {earlier}", line=later)


def _refuse_orphans(file: CatalogFile, incoming: IncomingRows, connection: Connection) -> None:
    reference = file.kind.reference
    if reference is None:
        return
    parents = reference.parent.c[reference.column]
    if orphan := incoming.first_orphan(reference.column, parents):
        line, name = orphan
        known = sorted(connection.scalars(select(parents)))
        hint = did_you_mean(name, known) if len(known) < _MANY else ""
        raise file.error(f"unknown {reference.column} {name!r}", line=line, column=reference.column, hint=hint)


def _refuse_spot_alone(file: CatalogFile, incoming: IncomingRows) -> None:
    """Raise if a spot price has no on-demand price, from any file: what is billed for spot is a part of that."""
    same = [tables.prices.c[name] == incoming.c[name] for name in ("platform", "region", "instance_type")]
    beside = exists().where(and_(*same, tables.prices.c.purchase == Purchase.ON_DEMAND.value))
    if row := incoming.first_where(and_(incoming.c.purchase == Purchase.SPOT.value, ~beside)):
        raise file.error(
            f"{row.instance_type} in {row.region} has a spot price and no on_demand price",
            line=row.line,
            column="purchase",
            hint="add a row with its on_demand price",
        )


def _replace_tags(connection: Connection, tags: Mapping[str, Sequence[str]]) -> Counts:
    """Give these campaigns these tags and no others, and return what changed."""
    table = tables.campaign_tags
    old = {(row.campaign, row.tag) for row in connection.execute(select(table)) if row.campaign in tags}
    new = {(campaign, tag) for campaign, its_tags in tags.items() for tag in its_tags}
    if gone := old - new:
        this_tag = and_(table.c.campaign == bindparam("its_campaign"), table.c.tag == bindparam("its_tag"))
        rows = [{"its_campaign": campaign, "its_tag": tag} for campaign, tag in gone]
        connection.execute(delete(table).where(this_tag), rows)
    if added := new - old:
        connection.execute(insert(table), [{"campaign": campaign, "tag": tag} for campaign, tag in added])
    return Counts(inserted=len(new - old), unchanged=len(new & old), removed=len(old - new))
