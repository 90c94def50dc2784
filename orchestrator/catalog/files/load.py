"""Loads CSV and Parquet files into the catalog: all of a call or nothing. Loading them twice changes nothing."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, insert, select

from orchestrator.catalog.files.beside import refuse_duplicates, refuse_orphans, refuse_spot_alone
from orchestrator.catalog.files.formats import SUFFIXES
from orchestrator.catalog.files.incoming import Counts, IncomingRows
from orchestrator.catalog.files.kinds import KINDS, Kind
from orchestrator.catalog.files.rows import CatalogRows
from orchestrator.catalog.files.to_come import remove_mended, tell_rows_to_come
from orchestrator.db import tables
from orchestrator.db.engine import writing
from orchestrator.errors import CatalogError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from orchestrator.catalog.platforms import Platforms

_NAMES_HINT = f"they are called {', '.join(KINDS)}, with {' or '.join(SUFFIXES)}"


@dataclass(frozen=True)
class LoadReport:
    """What became of the rows, by table."""

    counts: Mapping[str, Counts]
    to_come: tuple[str, ...] = ()
    """Which rows are not used yet, for they are dated later than now: a line for each file that has some."""

    @property
    def changed(self) -> bool:
        """True if the catalog is not what it was."""
        return any(counts.inserted or counts.updated or counts.removed for counts in self.counts.values())


def load(engine: Engine, platforms: Platforms, paths: Iterable[Path], kind: str | None = None) -> LoadReport:
    """Load these files, and all catalog files in these folders, in one transaction.

    A file is of the kind that its name says, unless `kind` is given. Raise CatalogError for the first thing that is
    wrong, at file:line:column; then nothing is loaded.
    """
    return load_rows(engine, platforms, _files(paths, kind))


def load_rows(
    engine: Engine, platforms: Platforms, files: Sequence[CatalogRows], without: Sequence[str] = ()
) -> LoadReport:
    """Load these rows, those first that others refer to, in one transaction. Raise CatalogError as `load` does.

    Replicas at the addresses `without` are removed first.
    """
    counts: dict[str, Counts] = {}
    to_come: list[str] = []
    now = datetime.now(timezone.utc)
    with writing(engine) as connection, ExitStack() as open_tables:
        for address in without:
            connection.execute(delete(tables.replicas).where(tables.replicas.c.s3_uri == address))
        loaded: list[tuple[CatalogRows, IncomingRows]] = []
        for file in files:
            incoming = open_tables.enter_context(IncomingRows(connection, file.kind.table, len(loaded)))
            loaded.append((file, incoming))
            for table, its_counts in _load(file, platforms, incoming, connection).items():
                counts[table] = counts.get(table, Counts()) + its_counts
            if "observed_at" in file.kind.table.c:
                mended = remove_mended(connection, file.kind.table, incoming, now)
                counts[file.kind.table.name] += Counts(removed=mended)
                to_come += tell_rows_to_come(file.where, incoming, now)
        for file, incoming in loaded:
            if file.kind.table is tables.prices:
                refuse_spot_alone(file, incoming)
    return LoadReport(counts, tuple(to_come))


def _files(paths: Iterable[Path], kind: str | None) -> list[CatalogRows]:
    """Return every file to load, those first that others refer to.

    A folder stands for all files in it that are called like a kind.
    """
    if kind is not None and kind not in KINDS:
        raise CatalogError(f"unknown kind {kind!r}", hint=did_you_mean(kind, list(KINDS)))
    found: list[CatalogRows] = []
    for path in paths:
        if path.is_dir():
            inside = [file for file in sorted(path.iterdir()) if file.suffix in SUFFIXES and file.stem in KINDS]
            if not inside:
                raise CatalogError("no catalog files in this folder", where=str(path), hint=_NAMES_HINT)
            found += [CatalogRows.of_file(file, KINDS[file.stem]) for file in inside]
        else:
            found.append(CatalogRows.of_file(path, _kind(path, kind)))
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


def _load(file: CatalogRows, platforms: Platforms, incoming: IncomingRows, connection: Connection) -> dict[str, Counts]:
    tags: dict[str, Sequence[str]] = {}
    for rows in file.rows(platforms):
        if file.kind.table is tables.campaigns:
            tags |= {row["campaign"]: row.pop("tags") for row in rows}
        incoming.add(rows)
    refuse_duplicates(file, incoming)
    refuse_orphans(file, incoming, connection)
    columns = file.kind.table.columns
    given = file.kind.given(file.given)
    along = ["source"] if "source" in columns and "source" not in given else []
    counts = {file.kind.table.name: incoming.merge(given, along)}
    if "tags" in file.given:
        counts[tables.campaign_tags.name] = _replace_tags(connection, tags)
    return counts


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
