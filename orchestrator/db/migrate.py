"""Brings the schema up to date: SQLite's when it is opened, a team's PostgreSQL only when somebody says so."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from orchestrator import resources
from orchestrator.db.engine import display_name, reading, writing
from orchestrator.db.revisions import REVISIONS
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class Schema(Enum):
    """The answer to how a database's schema compares with this code."""

    BEHIND = "behind"
    CURRENT = "current"
    AHEAD = "ahead"


def schema(connection: Connection) -> Schema:
    """Return how the database's schema compares with this code."""
    revision = _revision(connection)
    if revision == REVISIONS[-1]:
        return Schema.CURRENT
    return Schema.BEHIND if revision is None or revision in REVISIONS else Schema.AHEAD


def ready(engine: Engine) -> Engine:
    """Return the engine once its schema is this code's. SQLite is upgraded if it is behind.

    Raise CatalogError, with what to do, if the schema is newer, or if it is a PostgreSQL's and older.
    """
    with reading(engine) as connection:
        found = schema(connection)
    if found is Schema.AHEAD:
        raise _ahead(engine)
    if found is Schema.BEHIND and engine.dialect.name != "sqlite":
        raise CatalogError(
            "the database's schema is older than this sweep",
            where=display_name(engine),
            hint="run sweep catalog upgrade",
        )
    if found is Schema.BEHIND:
        upgrade(engine)
    return engine


def upgrade(engine: Engine) -> None:
    """Bring the schema up to date: all steps or none. It may be called again, and by several processes at once."""
    with writing(engine) as connection:
        if engine.dialect.name != "sqlite":
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('sweep schema'))"))
        found = schema(connection)
        if found is Schema.AHEAD:
            raise _ahead(engine)
        if found is Schema.BEHIND:
            _run_migrations(connection)


def _run_migrations(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(resources.path("sql/migrations")).replace("%", "%%"))
    command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _ahead(engine: Engine) -> CatalogError:
    return CatalogError(
        "this sweep is older than the database", where=display_name(engine), hint="install a newer sweep"
    )
