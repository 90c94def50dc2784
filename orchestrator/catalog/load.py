"""CSV and Parquet files into the catalog: all of a call or nothing, and the same files twice change nothing."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, exists, insert, select

from orchestrator.catalog.files import SUFFIXES
from orchestrator.catalog.kinds import KINDS, Kind
from orchestrator.catalog.rows import RowFile
from orchestrator.catalog.staging import Counts, Stage
from orchestrator.db import tables
from orchestrator.db.engine import writing
from orchestrator.errors import CatalogError, did_you_mean
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Engine

_NAMES = f"they are called {', '.join(KINDS)}, with {' or '.join(SUFFIXES)}"
_MANY = 10_000
"""More names than this are not searched for the nearest."""


@dataclass(frozen=True)
class LoadReport:
    """What became of the rows, by table."""

    counts: Mapping[str, Counts]

    @property
    def changed(self) -> bool:
        return any(its.inserted or its.updated or its.removed for its in self.counts.values())


def load(engine: Engine, paths: Iterable[Path], kind: str | None = None) -> LoadReport:
    files = _files(paths, kind)
    counts: dict[str, Counts] = {}
    with writing(engine) as connection, ExitStack() as stages:
        staged: list[tuple[RowFile, Stage]] = []
        for file in files:
            stage = stages.enter_context(Stage(connection, file.kind.table, len(staged)))
            staged.append((file, stage))
            for table, its in _load(file, stage, connection).items():
                counts[table] = counts.get(table, Counts()) + its
        for file, stage in staged:
            if file.kind.table is tables.prices:
                _refuse_spot_alone(file, stage)
    return LoadReport(counts)


def _files(paths: Iterable[Path], kind: str | None) -> list[RowFile]:
    """Every file to load, those first that others refer to. Of a folder, all that are called like a kind."""
    if kind is not None and kind not in KINDS:
        raise CatalogError(f"unknown kind {kind!r}", hint=did_you_mean(kind, list(KINDS)))
    found: list[RowFile] = []
    for path in paths:
        if path.is_dir():
            inside = [file for file in sorted(path.iterdir()) if file.suffix in SUFFIXES and file.stem in KINDS]
            if not inside:
                raise CatalogError("no catalog files in this folder", where=str(path), hint=_NAMES)
            found += [RowFile(file, KINDS[file.stem]) for file in inside]
        else:
            found.append(RowFile(path, _kind(path, kind)))
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


def _load(file: RowFile, stage: Stage, connection: Connection) -> dict[str, Counts]:
    tags: dict[str, Sequence[str]] = {}
    for rows in file.rows():
        if file.kind.table is tables.campaigns:
            tags |= {row["campaign"]: row.pop("tags") for row in rows}
        stage.add(rows)
    _refuse_twins(file, stage)
    _refuse_orphans(file, stage, connection)
    columns = file.kind.table.columns
    given = [name for name in file.given if name in columns]
    along = ["source"] if "source" in columns and "source" not in given else []
    counts = {file.kind.table.name: stage.merge(given, along)}
    if "tags" in file.given:
        counts[tables.campaign_tags.name] = _replace_tags(connection, tags)
    return counts


def _refuse_twins(file: RowFile, stage: Stage) -> None:
    if twins := stage.twins():
        keys = ", ".join(column.name for column in file.kind.table.primary_key)
        raise file.error(f"the same {keys} as in line {twins[0]}", line=twins[1])


def _refuse_orphans(file: RowFile, stage: Stage, connection: Connection) -> None:
    reference = file.kind.reference
    if reference is None:
        return
    parents = reference.parent.c[reference.column]
    if orphan := stage.orphan(reference.column, parents):
        line, name = orphan
        known = sorted(connection.scalars(select(parents)))
        hint = did_you_mean(name, known) if len(known) < _MANY else ""
        raise file.error(f"unknown {reference.column} {name!r}", line=line, column=reference.column, hint=hint)


def _refuse_spot_alone(file: RowFile, stage: Stage) -> None:
    """What SageMaker bills for spot is a part of the on-demand price, so this must be known, from any file."""
    same = [tables.prices.c[name] == stage.c[name] for name in ("platform", "region", "instance_type")]
    beside = exists().where(and_(*same, tables.prices.c.purchase == Purchase.ON_DEMAND.value))
    if row := stage.first(and_(stage.c.purchase == Purchase.SPOT.value, ~beside)):
        raise file.error(
            f"{row.instance_type} in {row.region} has a spot price and no on_demand price",
            line=row.line,
            column="purchase",
            hint="add a row with its on_demand price",
        )


def _replace_tags(connection: Connection, tags: Mapping[str, Sequence[str]]) -> Counts:
    """These campaigns have these tags, and no others."""
    table = tables.campaign_tags
    old = {(row.campaign, row.tag) for row in connection.execute(select(table)) if row.campaign in tags}
    new = {(campaign, tag) for campaign, its in tags.items() for tag in its}
    if gone := old - new:
        this = and_(table.c.campaign == bindparam("its_campaign"), table.c.tag == bindparam("its_tag"))
        connection.execute(delete(table).where(this), [{"its_campaign": c, "its_tag": tag} for c, tag in gone])
    if added := new - old:
        connection.execute(insert(table), [{"campaign": campaign, "tag": tag} for campaign, tag in added])
    return Counts(inserted=len(new - old), unchanged=len(new & old), removed=len(old - new))
