"""Reads S3 Inventories: AWS writes down once a day what lies in a bucket, for buckets too large to list.

An inventory is a manifest and the files that it names: CSV, compressed, or Parquet where pyarrow is installed.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import zlib
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from orchestrator.aws.s3 import S3, Listed, region_of_bucket
from orchestrator.errors import CatalogError, UsageError
from orchestrator.wire.names import S3Uri
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.aws.session import Clients

_MANIFEST = "manifest.json"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}Z/")
_COLUMNS = {"Key": "key", "Size": "size", "ETag": "e_tag", "LastModifiedDate": "last_modified_date"}
"""What must be told of each object: in CSV, and in Parquet."""
_OF_VERSIONS = {"IsLatest": "is_latest", "IsDeleteMarker": "is_delete_marker"}
_HINT = "add Size, LastModifiedDate and ETag to the fields of the inventory"

Row = dict[str, Any]


@dataclass(frozen=True)
class Inventory:
    """The newest inventory of one bucket."""

    bucket: str
    """The bucket that it tells of."""
    made_at: datetime
    format: str
    columns: tuple[str, ...]
    """The columns of its CSV files, which have no header."""
    files: tuple[tuple[str, str], ...]
    """The key of each file, and the MD5 of its content; none where the manifest has none."""
    store: S3
    """The bucket that its files lie in."""

    def list(self, prefix: str) -> Iterator[Listed]:
        """Yield every object whose key begins with this prefix, in no order. Raise Damaged for a broken file."""
        for key, md5 in self.files:
            content = self.store.get(key).body
            with damage_named(self.store.uri(key)):
                if md5 and hashlib.md5(content, usedforsecurity=False).hexdigest() != md5:
                    raise ValueError("it is not what the manifest says: another MD5")
                for row in self._rows(content):
                    item = _item(row)
                    if item is not None and item.key.startswith(prefix):
                        yield item

    def _rows(self, content: bytes) -> Iterator[Row]:
        return _of_parquet(content) if self.format == "Parquet" else _of_csv(content, self.columns)


def open_inventories(clients: Clients, region: str, places: Sequence[str]) -> dict[str, Inventory]:
    """Return the newest inventory at each of these addresses, by the bucket that it tells of.

    An address is that of a manifest, or of the folder in which AWS puts one each day. `region` is where AWS is asked
    which Region a bucket lies in. Raise UsageError for what is no address, CatalogError where there is no inventory, or
    one that does not tell enough.
    """
    found = (_open(clients, region, place) for place in places)
    return {inventory.bucket: inventory for inventory in found}


def _open(clients: Clients, region: str, place: str) -> Inventory:
    try:
        uri = S3Uri.parse(place)
    except ValueError as error:
        raise UsageError(
            f"{place!r} is not an S3 URI", where="--inventory", hint="write s3://bucket/prefix/"
        ) from error
    store = S3(clients, region_of_bucket(clients, region, uri.bucket), uri.bucket)
    key = uri.key if uri.key.endswith(_MANIFEST) else _newest(store, uri.key.rstrip("/") + "/" if uri.key else "")
    stored = store.get(key)
    with damage_named(store.uri(key)):
        return _read(stored.json(), store, store.uri(key))


def _newest(store: S3, prefix: str) -> str:
    """Return the key of the newest manifest: AWS names the folder of each after the moment when it was begun."""
    days = [folder for folder in store.folders(prefix) if _DAY.fullmatch(folder.removeprefix(prefix))]
    for folder in sorted(days, reverse=True):
        if store.exists(folder + _MANIFEST):  # the newest may still be written
            return folder + _MANIFEST
    raise CatalogError(
        f"no inventory lies there: no folder with a {_MANIFEST}",
        where=store.uri(prefix),
        hint="name the folder of the inventory's configuration: s3://BUCKET/PREFIX/SOURCE-BUCKET/NAME/",
    )


def _read(body: Mapping[str, Any], store: S3, where: str) -> Inventory:
    kind, schema = str(body["fileFormat"]), str(body["fileSchema"])
    if kind not in ("CSV", "Parquet"):
        raise CatalogError(f"an inventory in {kind} is not read", where=where, hint="let AWS write CSV or Parquet")
    columns = tuple(name.strip() for name in schema.split(",")) if kind == "CSV" else ()
    names = set(columns) if kind == "CSV" else set(re.findall(r"\b\w+\b", schema))
    wanted = set(_COLUMNS) if kind == "CSV" else set(_COLUMNS.values())
    if missing := sorted(wanted - names):
        raise CatalogError(f"the inventory does not tell {', '.join(missing)}", where=where, hint=_HINT)
    return Inventory(
        bucket=str(body["sourceBucket"]),
        made_at=datetime.fromtimestamp(int(body["creationTimestamp"]) / 1000, timezone.utc),
        format=kind,
        columns=columns,
        files=tuple((str(file["key"]), str(file.get("MD5checksum", ""))) for file in body["files"]),
        store=store,
    )


def _of_csv(content: bytes, columns: Sequence[str]) -> Iterator[Row]:
    try:
        with gzip.open(io.BytesIO(content), "rt", encoding="utf-8", newline="") as lines:
            for cells in csv.reader(lines):
                row: Row = dict(zip(columns, cells, strict=True))
                yield row | {"Key": unquote_plus(row["Key"])}
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise ValueError(f"no CSV file in gzip: {error}") from error


def _of_parquet(content: bytes) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException, BufferReader
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise CatalogError(
            "an inventory in Parquet needs pyarrow", hint="pip install 'sweep-orchestrator[parquet]', or let it be CSV"
        ) from error
    names = {theirs: ours for ours, theirs in (_COLUMNS | _OF_VERSIONS).items()}
    try:
        file = ParquetFile(BufferReader(content))
        for batch in file.iter_batches(columns=[name for name in file.schema_arrow.names if name in names]):
            for row in batch.to_pylist():
                yield {names[name]: value for name, value in row.items()}
    except (ArrowException, OSError) as error:
        raise ValueError(f"no Parquet file: {error}") from error


def _item(row: Row) -> Listed | None:
    """Return the object that a row tells of; None for an older version, and for what was deleted."""
    if _is(row, "IsLatest") is False or _is(row, "IsDeleteMarker"):
        return None
    written = row["LastModifiedDate"]
    moment = written if isinstance(written, datetime) else datetime.fromisoformat(re.sub("Z$", "+00:00", str(written)))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    etag = str(row["ETag"]).strip('"')
    return Listed(str(row["Key"]), f'"{etag}"', int(row["Size"]), moment.timestamp())


def _is(row: Row, name: str) -> bool | None:
    value = row.get(name)
    return None if value is None or value == "" else str(value).lower() == "true"
