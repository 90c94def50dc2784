"""The way into the database, and one clear line when there is none."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from sqlalchemy import create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError

from orchestrator.db.rows import WAIT_S
from orchestrator.errors import CatalogError, DatabaseAway

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import URL, Connection, Engine
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

_MASK = "***"
_SECRET_OPTION = re.compile("pass|secret|token|key", re.IGNORECASE)
"""Options of a URL whose values are not shown."""
_FORMS = "write sqlite:///FILE or postgresql://USER@HOST/NAME"


def engine(url: str) -> Engine:
    """Return an engine for this URL, which connects to nothing yet. Raise CatalogError if the URL cannot be used."""
    address = _address(url)
    try:
        if address.get_backend_name() == "sqlite":
            return _sqlite(address)
        return create_engine(address, pool_pre_ping=True, connect_args={"connect_timeout": WAIT_S})
    except ModuleNotFoundError as error:
        raise CatalogError(
            f"PostgreSQL needs {error.name}, which is not installed",
            hint="pip install 'sweep-orchestrator[postgres]'",
        ) from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees one consistent state of the database. Nothing that is done with it stays."""
    with _errors_explained(engine), engine.connect() as connection:
        yield connection
        connection.rollback()


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Give a connection in a transaction: all that is done with it stays, or, after an error, nothing.

    In SQLite the lock is taken at once: one that is taken halfway cannot be waited for.
    """
    with (
        _errors_explained(engine),
        engine.connect().execution_options(begin="IMMEDIATE") as connection,
        connection.begin(),
    ):
        yield connection


def size(engine: Engine) -> int:
    """Return how many bytes the database has."""
    with reading(engine) as connection:
        if engine.dialect.name != "sqlite":
            return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())
        pages, page = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("page_count", "page_size")
        )
        return int(pages * page)


def shrink(engine: Engine) -> None:
    """Give back to the disk what deleted rows have left in a SQLite file. A server does so by itself.

    Raise CatalogError if somebody else is using the file.
    """
    if engine.dialect.name != "sqlite":
        return
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.close()
    except sqlite3.Error as error:
        raise CatalogError(
            f"the file could not be made smaller: {error}", where=display_name(engine), hint="run it again"
        ) from error
    finally:
        connection.close()


def display_name(engine: Engine) -> str:
    """Return the database's name as errors show it."""
    return display_url(engine.url)


def display_url(url: URL) -> str:
    """Return a database's URL without passwords, wherever they stand in it."""
    options = {name: _MASK if _SECRET_OPTION.search(name) else value for name, value in url.query.items()}
    shown = url.set(drivername=url.get_backend_name(), query=options).render_as_string(hide_password=True)
    return shown.replace(quote_plus(_MASK), _MASK)


def without_passwords(text: str, url: URL) -> str:
    """Return what a database or its driver says, without any password of its URL."""
    words = [str(url.password or "")]
    for name, values in url.normalized_query.items():
        words += values if _SECRET_OPTION.search(name) else ()
    for word in sorted(filter(None, words), key=len, reverse=True):
        for spelling in (word, quote_plus(word), quote(word, safe="")):
            text = text.replace(spelling, _MASK)
    return text


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise CatalogError("the database's URL cannot be read", hint=_FORMS) from error
    if address.drivername in ("postgres", "postgresql"):
        return address.set(drivername="postgresql+psycopg")
    if address.drivername not in ("sqlite", "postgresql+psycopg"):
        raise CatalogError(f"databases of kind {address.drivername!r} are not supported", hint=_FORMS)
    return address


def _sqlite(address: URL) -> Engine:
    engine = create_engine(address, connect_args={"timeout": WAIT_S})
    if address.database:
        folder = Path(address.database).resolve().parent
        if not folder.is_dir():
            raise CatalogError("the folder of the database does not exist", where=str(folder), hint=f"mkdir {folder}")

    @event.listens_for(engine, "do_connect")
    def make_private(*_: Any) -> None:
        # A new file is for its owner: a team's database may know of paths and prices that nobody else should.
        if address.database and not Path(address.database).exists():
            with suppress(OSError):  # SQLite says what is wrong, and we say it in our words
                os.close(os.open(address.database, os.O_CREAT | os.O_EXCL, 0o600))

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        # Python's driver would begin transactions itself, and leave schema changes out of them.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        _write_ahead(cursor)
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA cache_size = -65536")  # KiB, at most: a million rows merge three times as fast
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options: dict[str, Any] = dict(connection.get_execution_options())
        connection.exec_driver_sql(f"BEGIN {options.get('begin', 'DEFERRED')}")

    return engine


def _write_ahead(cursor: Any) -> None:
    """Let readers and a writer not wait for each other.

    SQLite waits for no lock when a new file is switched to it: who comes at the same moment as another tries again.
    """
    give_up_at = time.monotonic() + WAIT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= give_up_at:
                raise
            time.sleep(0.02)
        else:
            return


@contextmanager
def _errors_explained(engine: Engine) -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise _error(engine.url, cause, unusable=isinstance(error, OperationalError)) from error


def explain_sqlite(url: str, error: sqlite3.Error) -> CatalogError:
    """Return what an error of SQLite's own driver means for the user of this database."""
    return _error(make_url(url), error, unusable=isinstance(error, sqlite3.OperationalError))


def _error(url: URL, cause: BaseException | None, *, unusable: bool) -> CatalogError:
    """Return the error for a refused statement; with `unusable`, for a database that cannot be used at all."""
    reason = without_passwords(str(cause).strip().split("\n")[0], url)
    where = display_url(url)
    if not unusable:
        return CatalogError(f"the database refuses: {reason}", where=where)
    if "locked" in reason:
        return DatabaseAway(f"another process kept the database locked for {WAIT_S} s", where=where, hint="try again")
    if url.get_backend_name() == "sqlite":
        hint = "its folder and files must be writable"
        return CatalogError(f"the database cannot be used: {reason}", where=where, hint=hint)
    hint = "check its URL, and that the server is up"
    return DatabaseAway(f"the database cannot be used: {reason}", where=where, hint=hint)
