"""CSV and Parquet files into the catalog: all of a call or nothing, and the same files twice change nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, exists, insert, select

from orchestrator.catalog.files import SUFFIXES, Batch, batches
from orchestrator.catalog.kinds import KINDS, Field, Kind
from orchestrator.catalog.stage import Counts, Stage
from orchestrator.db import tables
from orchestrator.db.engine import writing
from orchestrator.errors import CatalogError, did_you_mean
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Engine


@dataclass
class LoadReport:
    """What became of the rows, by table."""

    counts: dict[str, Counts] = field(default_factory=dict)

    def add(self, table: str, counts: Counts) -> None:
        self.counts[table] = self.counts.get(table, Counts()) + counts

    @property
    def changed(self) -> bool:
        return any(c.inserted or c.updated or c.removed for c in self.counts.values())


def load(engine: Engine, paths: Iterable[Path], kind: str | None = None) -> LoadReport:
    files = _files(paths, kind)
    report = LoadReport()
    with writing(engine) as connection:
        for known in KINDS.values():
            for file in (file for file, its in files if its is known):
                _File(file, known, connection).load(report)
    return report


def _files(paths: Iterable[Path], kind: str | None) -> list[tuple[Path, Kind]]:
    """Every file to load with its kind; of a folder, all that are called like a kind."""
    if kind is not None and kind not in KINDS:
        raise CatalogError(f"unknown kind {kind!r}", hint=did_you_mean(kind, list(KINDS)))
    found: list[tuple[Path, Kind]] = []
    for path in paths:
        if path.is_dir():
            inside = [file for file in sorted(path.iterdir()) if file.suffix in SUFFIXES and file.stem in KINDS]
            if not inside:
                raise CatalogError("no catalog files in this folder", where=str(path), hint=_NAMES)
            found += [(file, KINDS[file.stem]) for file in inside]
        else:
            found.append((path, KINDS[kind or _kind_of(path)]))
    return found


_NAMES = f"they are called {', '.join(KINDS)}, with {' or '.join(SUFFIXES)}"


def _kind_of(file: Path) -> str:
    if not file.exists():
        raise CatalogError("no such file", where=str(file))
    if file.suffix not in SUFFIXES:
        raise CatalogError(f"neither {' nor '.join(SUFFIXES)}", where=str(file))
    if file.stem not in KINDS:
        raise CatalogError(
            f"{file.stem!r} is no kind of catalog file", where=str(file), hint=f"{did_you_mean(file.stem, list(KINDS))}"
        )
    return file.stem


class _File:
    """One file on its way into the catalog."""

    def __init__(self, file: Path, kind: Kind, connection: Connection) -> None:
        self._file = file
        self._kind = kind
        self._connection = connection
        self._tags: dict[str, Sequence[str]] = {}

    def load(self, report: LoadReport) -> None:
        given: list[str] = []
        with Stage(self._connection, self._kind.table) as stage:
            for batch in batches(self._file):
                given = self._columns(batch)
                stage.add(self._rows(batch))
            self._check(stage)
            report.add(self._kind.table.name, stage.merge([name for name in given if name in self._kind.table.c]))
            self._check_merged(stage)
        if "tags" in given:
            report.add(tables.campaign_tags.name, _replace_tags(self._connection, self._tags))

    def _columns(self, batch: Batch) -> list[str]:
        """The columns that this file gives, all of them known."""
        known = [field.name for field in self._kind.fields]
        for name in batch.columns:
            if name not in known:
                raise CatalogError(
                    f"{self._kind.name} have no column {name!r}", where=str(self._file), hint=did_you_mean(name, known)
                )
        missing = [field.name for field in self._kind.fields if field.required and field.name not in batch.columns]
        if missing:
            raise CatalogError(f"column {missing[0]!r} is missing", where=str(self._file))
        return list(batch.columns)

    def _rows(self, batch: Batch) -> list[dict[str, Any]]:
        columns = {field.name: self._values(field, batch) for field in self._kind.fields}
        columns["line"] = list(batch.lines)
        if "source" in columns:
            columns["source"] = [source or self._file.name for source in columns["source"]]
        if self._kind.table is tables.datasets:
            pairs = zip(columns["campaign"], columns["version"], strict=True)
            columns["dataset"] = [f"{campaign}@{version}" for campaign, version in pairs]
        if "tags" in columns:
            self._tags.update(zip(columns["campaign"], columns.pop("tags"), strict=True))
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _values(self, field: Field, batch: Batch) -> list[Any]:
        """Every distinct cell is parsed once: a million prices name few Regions."""
        if field.name not in batch.columns:
            return [field.default] * len(batch.lines)
        column = batch.columns[field.name]
        try:
            values = {cell: _value(field, cell) for cell in set(column)}
            return [values[cell] for cell in column]
        except ValueError:
            for line, cell in zip(batch.lines, column, strict=True):
                try:
                    _value(field, cell)
                except ValueError as error:
                    raise self._error(line, field.name, str(error)) from error
            raise

    def _check(self, stage: Stage) -> None:
        twins = stage.twins()
        if twins:
            keys = ", ".join(column.name for column in self._kind.table.primary_key)
            raise self._error(twins[1], "", f"the same {keys} as in line {twins[0]}")
        reference = self._kind.reference
        if reference:
            parents = reference.parent.c[reference.column]
            orphan = stage.orphan(reference.column, parents)
            if orphan:
                known = list(self._connection.scalars(select(parents).order_by(parents)))
                hint = did_you_mean(orphan[1], known) if len(known) < _MANY else ""
                raise self._error(orphan[0], reference.column, f"unknown {reference.what} {orphan[1]!r}", hint)

    def _check_merged(self, stage: Stage) -> None:
        """A spot price alone is of no use: what SageMaker bills is a part of the on-demand price."""
        if self._kind.table is not tables.prices:
            return
        beside = and_(
            tables.prices.c.platform == stage.c.platform,
            tables.prices.c.region == stage.c.region,
            tables.prices.c.instance_type == stage.c.instance_type,
            tables.prices.c.purchase == Purchase.ON_DEMAND.value,
        )
        alone = stage.first(and_(stage.c.purchase == Purchase.SPOT.value, ~exists().where(beside)))
        if alone:
            raise self._error(
                alone.line,
                "purchase",
                f"{alone.instance_type} in {alone.region} has a spot price and no on_demand price",
                "add a row with its on_demand price",
            )

    def _error(self, line: int, column: str, problem: str, hint: str = "") -> CatalogError:
        where = f"{self._file}:{line}:{column}" if column else f"{self._file}:{line}"
        return CatalogError(problem, where=where, hint=hint)


_MANY = 10_000
"""More names than this are not searched for the nearest."""


def _value(field: Field, cell: Any) -> Any:
    if cell is None or cell != cell or (isinstance(cell, str) and not cell.strip()):  # missing, NaN or empty
        if field.required:
            raise ValueError("is empty")
        return field.default
    return field.parse(cell)


def _replace_tags(connection: Connection, tags: dict[str, Sequence[str]]) -> Counts:
    """These campaigns have these tags, and no others."""
    table = tables.campaign_tags
    old = {(row.campaign, row.tag) for row in connection.execute(select(table)) if row.campaign in tags}
    new = {(campaign, tag) for campaign, its in tags.items() for tag in its}
    if old - new:
        gone = [{"old_campaign": campaign, "old_tag": tag} for campaign, tag in old - new]
        connection.execute(_delete_tag(), gone)
    if new - old:
        connection.execute(insert(table), [{"campaign": campaign, "tag": tag} for campaign, tag in new - old])
    return Counts(inserted=len(new - old), unchanged=len(new & old), removed=len(old - new))


def _delete_tag() -> Any:
    from sqlalchemy import bindparam

    table = tables.campaign_tags
    return delete(table).where(table.c.campaign == bindparam("old_campaign"), table.c.tag == bindparam("old_tag"))
