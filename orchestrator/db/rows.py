"""Rows by plain SQL, of which SQLite and PostgreSQL understand the same.

SQLite is asked through the standard library: a command that only looks does not wait until SQLAlchemy is loaded.
"""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections import namedtuple
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.db.revisions import REVISIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

WAIT_S = 30
"""Seconds to wait for another process's lock."""
_FILE_URL = re.compile(r"sqlite:///(?!file:|:memory:)([^?]+)")


class Rows(ABC):
    """What answers queries. Each of them sees one consistent state of the database."""

    @abstractmethod
    def all(self, sql: str, **values: Any) -> Generator[Any]:
        """Yield the rows. Each is a tuple, whose parts are attributes, too. Raises CatalogError if it cannot."""

    def column(self, sql: str, **values: Any) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self.all(sql, **values)]

    def value(self, sql: str, **values: Any) -> Any:
        """Return the first column of the first row; None if there is no row."""
        with closing(self.all(sql, **values)) as rows:
            return next((row[0] for row in rows), None)


class SqliteRows(Rows):
    """The rows of a file."""

    def __init__(self, file: Path, explain: Callable[[sqlite3.Error], Exception]) -> None:
        """Take also what makes our error of one of SQLite's."""
        self._file = file
        self._explain = explain
        self._free: list[sqlite3.Connection] = []

    def all(self, sql: str, **values: Any) -> Generator[Any]:
        try:
            with self._connection() as connection, closing(connection.execute(sql, values)) as cursor:
                make = _row_maker(tuple(name for name, *_ in cursor.description))
                yield from map(make, cursor)
        except sqlite3.Error as error:
            raise self._explain(error) from error

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        # A query whose rows are still being read keeps its connection: others see what has come since.
        connection = self._free.pop() if self._free else connect(self._file)
        try:
            yield connection
        finally:
            self._free.append(connection)


def file_of(url: str) -> Path | None:
    """Return the SQLite file that a URL names and nothing else; None for any other URL."""
    named = _FILE_URL.fullmatch(url)
    return Path(named[1]).absolute() if named else None


def is_current(file: Path) -> bool:
    """Return whether a file is there, and is a database whose schema is this code's."""
    if not file.is_file():
        return False
    try:
        with closing(connect(file)) as connection:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return False  # whoever opens it in earnest says what is wrong
    return found is not None and str(found[0]) == REVISIONS[-1]


def connect(file: Path) -> sqlite3.Connection:
    """Return a connection to read with. Any thread may use it, one at a time."""
    return sqlite3.connect(file, timeout=WAIT_S, isolation_level=None, check_same_thread=False)


@cache
def _row_maker(columns: tuple[str, ...]) -> Callable[[tuple[Any, ...]], Any]:
    row: Any = namedtuple("Row", columns, rename=True)  # type: ignore[misc]
    made: Callable[[tuple[Any, ...]], Any] = row._make
    return made
