"""One database, by its URL: opened on first use, once its schema is this code's."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from orchestrator.db.rows import Rows, SqliteRows, file_of, is_current

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Engine


class Database:
    """A database that the catalog and the ledger share. Whoever only reads leaves no file where there was none."""

    def __init__(self, url: str) -> None:
        self.url = url

    @cached_property
    def engine(self) -> Engine:
        """The way in. Raises CatalogError if the schema is not this code's, and cannot be made so by itself."""
        from orchestrator.db.engine import engine
        from orchestrator.db.migrate import ready

        return ready(engine(self.url))

    @property
    def to_read(self) -> Database:
        """The database for whoever only reads: where its file is not there, an empty one that goes with the process."""
        file = file_of(self.url)
        is_missing = file is not None and not file.exists() and file.parent.is_dir()
        return self._empty if is_missing else self

    @cached_property
    def _empty(self) -> Database:
        empty = Database(f"sqlite:///{Path(self._folder.name) / 'empty.db'}")
        empty.upgrade()
        return empty

    @cached_property
    def _folder(self) -> TemporaryDirectory[str]:
        return TemporaryDirectory(prefix="sweep-")

    @property
    def rows(self) -> Rows:
        """The quick way to rows, for who only looks. Raises CatalogError as `engine` does."""
        return self.to_read._rows

    @cached_property
    def _rows(self) -> Rows:
        file = file_of(self.url)
        if file is None:
            from orchestrator.db.engine_rows import EngineRows

            return EngineRows(self.engine)
        if not is_current(file):
            _ = self.engine  # which makes it so, or says why not
        return SqliteRows(file, self._explain)

    def _explain(self, error: sqlite3.Error) -> Exception:
        from orchestrator.db.engine import explain_sqlite

        return explain_sqlite(self.url, error)

    def upgrade(self) -> None:
        """Bring the schema up to this code's."""
        from orchestrator.db.engine import engine
        from orchestrator.db.migrate import upgrade

        upgrade(engine(self.url))
