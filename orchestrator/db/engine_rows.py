"""Rows by plain SQL of whatever SQLAlchemy can open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from orchestrator.db.engine import reading
from orchestrator.db.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Engine


class EngineRows(Rows):
    """The rows of a database that has an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self, sql: str, **values: Any) -> Generator[Any]:
        with reading(self._engine) as connection:
            yield from connection.execute(text(sql), values)
