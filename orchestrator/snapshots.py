"""Catalog snapshots in the control bucket: who has no shared database plans on the newest.

catalog/snapshots/<digest>.db.gz   a SQLite file as `sweep catalog snapshot` writes it; written once
catalog/newest.json                which of them is the newest; moved by compare-and-set
"""

from __future__ import annotations

import gzip
import logging
import sqlite3
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from orchestrator.errors import AlreadyExists, CatalogError, Damaged, NotFound
from orchestrator.wire.names import canonical, digest
from orchestrator.wire.stored import VERSION, check_version, damage_named, restore

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.s3 import S3
    from orchestrator.catalog.catalog import Catalog

log = logging.getLogger(__name__)

POINTER = "catalog/newest.json"


@dataclass(frozen=True)
class Pushed:
    """A snapshot in the control bucket."""

    snapshot: str
    """Its digest, by which it is found."""
    rows: int
    pushed_at: float
    """The moment of it, in seconds since the epoch."""
    owner: str
    previous: str = ""
    """The snapshot that was the newest before; empty of the first."""

    @property
    def key(self) -> str:
        """The key under which it lies."""
        return f"catalog/snapshots/{self.snapshot}.db.gz"


@dataclass(frozen=True)
class CatalogLoss:
    """What nights would no longer find if a catalog took the place of the newest snapshot."""

    there: Pushed
    datasets: list[str]
    replicas: list[str]
    """Each such as `alps@1 in eu-west-1`, of datasets that stay."""


class Snapshots:
    """The catalog snapshots of one control bucket."""

    def __init__(self, s3: S3) -> None:
        self._s3 = s3

    def push(self, catalog: Catalog, owner: str, agree: Callable[[CatalogLoss], None] | None = None) -> Pushed:
        """Write the catalog as it is now into the bucket, and let the pointer name it. Return what is the newest now.

        A catalog that has not changed since moves nothing. Where datasets or replicas of the newest snapshot would be
        gone, `agree` is asked first, and raises if that must not be. CatalogError if another one was pushed meanwhile.
        A pointer that cannot be understood is written anew.
        """
        there, etag = self._replaceable()
        with TemporaryDirectory(prefix="sweep-") as folder:
            file = Path(folder) / "catalog.db"
            rows = catalog.snapshot(file)
            content = file.read_bytes()
            name = digest(content, 32)
            if there and there.snapshot == name:
                return there
            if there and agree and (loss := self._loss(there, file)):
                agree(loss)
        pushed = Pushed(name, rows, time.time(), owner, there.snapshot if there else "")
        self._s3.put_once(pushed.key, gzip.compress(content, compresslevel=6, mtime=0))
        try:
            self._s3.put_if(POINTER, canonical({"version": VERSION, **asdict(pushed)}).encode(), etag)
        except (AlreadyExists, NotFound) as error:
            newest = self.newest()
            if newest and newest.snapshot == name:
                return newest  # ours: the answer was lost, or somebody has pushed the same
            raise CatalogError(
                "another catalog was pushed meanwhile: the pointer names that one",
                where=self._s3.uri(POINTER),
                hint="look at it with `sweep catalog pull FILE`, then push again",
            ) from error
        return pushed

    def newest(self) -> Pushed | None:
        """Return the newest snapshot; None if none was ever pushed."""
        return self._newest()[0]

    def pull(self, file: Path) -> Pushed:
        """Write the newest snapshot into a new file, and return which it is. CatalogError if there is none."""
        newest = self.newest()
        if newest is None:
            hint = "`sweep catalog push` writes one, where the catalog is"
            raise CatalogError("no catalog was pushed yet", where=self._s3.uri(POINTER), hint=hint)
        content = self._content(newest)
        draft = file.with_name(f".{file.name}.part")
        try:
            draft.write_bytes(content)
            draft.replace(file)
        except OSError as error:
            raise CatalogError(f"cannot be written: {error.strerror or error}", where=str(file)) from error
        finally:
            draft.unlink(missing_ok=True)
        return newest

    def _content(self, pushed: Pushed) -> bytes:
        """Return the file of a snapshot. Damaged if it is not what was pushed."""
        where = self._s3.uri(pushed.key)
        try:
            content = gzip.decompress(self._s3.get(pushed.key).body)
        except (OSError, EOFError) as error:
            raise Damaged(f"cannot be unpacked: {error}", where=where) from error
        if digest(content, 32) != pushed.snapshot:
            raise Damaged("is not what its name says", where=where)
        return content

    def _loss(self, there: Pushed, file: Path) -> CatalogLoss | None:
        """Return what a snapshot has that this file of another one lacks; None if nothing, or if it cannot be read."""
        before = file.with_name("before.db")
        try:
            before.write_bytes(self._content(there))
            had, has = _read_holdings(before), _read_holdings(file)
        except (Damaged, NotFound, sqlite3.Error) as error:
            log.warning("what the newest snapshot holds cannot be compared: %s", error)
            return None
        datasets = sorted(had.keys() - has.keys())
        kept = sorted(had.keys() & has.keys())
        replicas = [f"{dataset} in {region}" for dataset in kept for region in sorted(had[dataset] - has[dataset])]
        return CatalogLoss(there, datasets, replicas) if datasets or replicas else None

    def _replaceable(self) -> tuple[Pushed | None, str | None]:
        try:
            return self._newest()
        except Damaged as error:
            log.warning("%s: it is written anew", error.message)
            return None, self._s3.get(POINTER).etag

    def _newest(self) -> tuple[Pushed | None, str | None]:
        """Return the newest snapshot, and the etag of the pointer that names it."""
        try:
            stored = self._s3.get(POINTER)
        except NotFound:
            return None, None
        try:
            with damage_named(self._s3.uri(POINTER)):
                body = stored.json()
                check_version(body, "pointer to a catalog")
                return restore(Pushed, body), stored.etag
        except Damaged as error:
            hint = "`sweep catalog push`, where the catalog is, writes it anew"
            raise Damaged(error.message, where=error.where, hint=hint) from error


def _read_holdings(file: Path) -> dict[str, set[str]]:
    """Return the datasets of a snapshot's file, each with the Regions of its replicas."""
    with closing(sqlite3.connect(file)) as connection:
        found: dict[str, set[str]] = {name: set() for (name,) in connection.execute("SELECT dataset FROM datasets")}
        for dataset, region in connection.execute("SELECT dataset, region FROM replicas"):
            found.setdefault(dataset, set()).add(region)
    return found
