"""A team's own campaign database: one query of it becomes campaigns, datasets and replicas of the catalog.

Each row of the query is a replica, and says of its dataset and campaign what it knows. The columns are those of the
catalog's files: docs/catalog.md lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import CatalogError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REQUIRED = ("campaign", "version", "bytes", "created_at", "region", "s3_uri")
_OF_CAMPAIGN = ("campaign", "recorded_from", "recorded_to", "tags", "description")
_OF_DATASET = ("campaign", "version", "bytes", "created_at")
OPTIONAL = ("recorded_from", "recorded_to", "tags", "description", "replica_bytes")

Row = dict[str, Any]


def split_rows(names: Sequence[str], rows: Sequence[Sequence[Any]], where: str) -> dict[str, dict[int, Row]]:
    """Return rows of the catalog by the kind of file that has such rows, each by its number in the query.

    `where` is what errors call the query. Raise CatalogError for a column that is missing or unknown, and for two rows
    that say different things of one campaign or dataset.
    """
    _check_columns(names, where)
    found = [dict(zip(names, row, strict=True)) for row in rows]
    if not found:
        raise CatalogError("the query has no rows", where=where)
    for number, row in enumerate(found, 1):
        for name in REQUIRED:
            if row[name] is None:
                raise CatalogError("is empty", where=f"{where}:{number}:{name}")
    return {
        "campaigns": _distinct(found, [name for name in _OF_CAMPAIGN if name in names], ("campaign",), where),
        "datasets": _distinct(found, _OF_DATASET, ("campaign", "version"), where),
        "replicas": {number: _replica(row, names) for number, row in enumerate(found, 1)},
    }


def _check_columns(names: Sequence[str], where: str) -> None:
    known = [*REQUIRED, *OPTIONAL]
    for name in names:
        if name not in known:
            raise CatalogError(f"the query has an unknown column {name!r}", where=where, hint=did_you_mean(name, known))
        if list(names).count(name) > 1:
            raise CatalogError(f"the query has two columns {name!r}", where=where)
    for name in REQUIRED:
        if name not in names:
            raise CatalogError(f"the query lacks the column {name!r}", where=where, hint="SELECT … AS " + name)


def _distinct(rows: Sequence[Row], columns: Sequence[str], key: Sequence[str], where: str) -> dict[int, Row]:
    """Return these columns of the rows, once for each key, by the number of the first such row."""
    first: dict[tuple[Any, ...], tuple[int, Row]] = {}
    for number, row in enumerate(rows, 1):
        facts = {name: row[name] for name in columns}
        earlier, known = first.setdefault(tuple(row[name] for name in key), (number, facts))
        if facts != known:
            column = next(name for name in columns if facts[name] != known[name])
            name = "@".join(str(row[part]) for part in key)
            raise CatalogError(
                f"{name} has another {column} in row {earlier}",
                where=f"{where}:{number}:{column}",
                hint="say one thing",
            )
    return dict(first.values())


def _replica(row: Mapping[str, Any], names: Sequence[str]) -> Row:
    replica = {"dataset": f"{row['campaign']}@{row['version']}", "region": row["region"], "s3_uri": row["s3_uri"]}
    return replica | ({"bytes": row["replica_bytes"]} if "replica_bytes" in names else {})
