"""Reads somebody else's database: one query, and nothing that it does stays."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from orchestrator.db.engine import display_url, without_passwords
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import URL, Engine

FORMS = "write it as SQLAlchemy does: postgresql://USER@HOST/NAME, mysql+pymysql://USER@HOST/NAME, sqlite:///FILE"


def read_query(url: str, query: str) -> tuple[list[str], Sequence[Sequence[Any]]]:
    """Return the names of the columns that a query has, and its rows.

    The database is opened for reading only, where it knows such a thing, and whatever the query did is undone. Raise
    CatalogError, without passwords, if it cannot be reached or does not understand the query.
    """
    engine = _open(url)
    name = display_url(make_url(url))
    with _errors_told(engine, name), engine.connect() as connection:
        options: dict[str, Any] = {"no_parameters": True}  # a % or a : in the query means itself
        if engine.dialect.name == "postgresql":
            options["postgresql_readonly"] = True
        answer = connection.execution_options(**options).exec_driver_sql(query)
        if not answer.returns_rows:
            raise CatalogError("the query returns no rows", where=name, hint="write a SELECT")
        names, rows = list(answer.keys()), answer.fetchall()
        connection.rollback()
    return names, rows


def _open(url: str) -> Engine:
    try:
        return create_engine(_for_reading(make_url(url)))
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise CatalogError("the URL of the campaign database cannot be used", hint=FORMS) from error
    except ModuleNotFoundError as error:
        raise CatalogError(
            f"the campaign database needs {error.name}, which is not installed", hint=f"pip install {error.name}"
        ) from error


def _for_reading(url: URL) -> URL:
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database:
        return url.set(database=f"file:{url.database}", query={"mode": "ro", "uri": "true"})
    return url


@contextmanager
def _errors_told(engine: Engine, name: str) -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise CatalogError(without_passwords(said[0] if said else "no answer", engine.url), where=name) from error
