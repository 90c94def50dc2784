"""One database, by its URL: opened on first use, once its schema is this code's."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from orchestrator.db.rows import Rows, SqliteRows, file_of, is_current

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Engine


class Database:
    """A database that the catalog and the ledger share."""

    def __init__(self, url: str) -> None:
        self.url = url

    @cached_property
    def engine(self) -> Engine:
        """The way in. Raises CatalogError if the schema is not this code's, and cannot be made so by itself."""
        from orchestrator.db.engine import engine
        from orchestrator.db.migrate import ready

        return ready(engine(self.url))

    @cached_property
    def rows(self) -> Rows:
        """The quick way to rows, for who only looks. Raises CatalogError as `engine` does."""
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
