"""The schema's history. SQLite is brought up to date when opened; a team's PostgreSQL only when somebody says so."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from orchestrator import resources
from orchestrator.db.engine import named, reading, writing
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

REVISIONS = ("0001", "0002")
"""All that this code knows, oldest first: kept here because asking Alembic at every start is slow."""


class Schema(Enum):
    BEHIND = "behind"
    CURRENT = "current"
    AHEAD = "ahead"


def schema(connection: Connection) -> Schema:
    """How the database's schema compares with this code."""
    revision = _revision(connection)
    if revision == REVISIONS[-1]:
        return Schema.CURRENT
    return Schema.BEHIND if revision is None or revision in REVISIONS else Schema.AHEAD


def ready(engine: Engine) -> Engine:
    """The engine, once its schema is this code's; or what to do."""
    with reading(engine) as connection:
        found = schema(connection)
    if found is Schema.AHEAD:
        raise _ahead(engine)
    if found is Schema.BEHIND and engine.dialect.name != "sqlite":
        raise CatalogError(
            "the database's schema is older than this sweep", where=named(engine), hint="run sweep catalog upgrade"
        )
    if found is Schema.BEHIND:
        upgrade(engine)
    return engine


def upgrade(engine: Engine) -> None:
    """Bring the schema up to date: all steps or none. Safe to call again, and from several processes at once."""
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
    return CatalogError("this sweep is older than the database", where=named(engine), hint="install a newer sweep")
