"""One database, by its URL: opened on first use, once its schema is this code's."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from orchestrator.db import migrate
from orchestrator.db.engine import engine

if TYPE_CHECKING:
    from sqlalchemy import Engine


class Database:
    """A database that the catalog and the ledger share."""

    def __init__(self, url: str) -> None:
        self.url = url

    @cached_property
    def engine(self) -> Engine:
        """The way in. Raises CatalogError if the schema is not this code's, and cannot be made so by itself."""
        return migrate.ready(engine(self.url))

    def upgrade(self) -> None:
        """Bring the schema up to this code's."""
        migrate.upgrade(engine(self.url))
