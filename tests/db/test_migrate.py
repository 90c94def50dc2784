from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, Text, inspect, select, text

from orchestrator import resources
from orchestrator.db import migrate
from orchestrator.db.engine import engine, reading, writing
from orchestrator.db.history_tables import attempts
from orchestrator.db.revisions import REVISIONS
from orchestrator.db.tables import metadata, runs
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_migrations_make_exactly_the_tables_of_the_code(database_url: str) -> None:
    options = {"compare_type": True, "compare_server_default": True}
    with reading(engine(database_url)) as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
        checks = {
            name: {check["name"] for check in inspect(connection).get_check_constraints(name)}
            for name in metadata.tables
        }
    assert checks == {
        name: {str(c.name) for c in table.constraints if str(c.name).startswith("ck_")}
        for name, table in metadata.tables.items()
    }


def test_the_code_knows_every_migration_that_lies_in_sql() -> None:
    config = Config()
    config.set_main_option("script_location", str(resources.path("sql/migrations")))
    history = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(history)) == REVISIONS


def test_upgrading_twice_is_upgrading_once(empty_database_url: str) -> None:
    database = engine(empty_database_url)
    migrate.upgrade(database)
    migrate.upgrade(database)
    with reading(database) as connection:
        assert migrate.schema(connection) is migrate.Schema.CURRENT


def test_several_may_upgrade_at_once(empty_database_url: str) -> None:
    databases = [engine(empty_database_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(migrate.upgrade, databases))
    with reading(databases[0]) as connection:
        assert migrate.schema(connection) is migrate.Schema.CURRENT


def test_sqlite_is_brought_up_to_date_when_it_is_opened(tmp_path: Path) -> None:
    database = migrate.ready(engine(f"sqlite:///{tmp_path}/new.db"))
    with reading(database) as connection:
        assert migrate.schema(connection) is migrate.Schema.CURRENT


def test_a_postgresql_that_is_behind_waits_for_somebody_to_upgrade_it(empty_postgresql_url: str) -> None:
    with pytest.raises(CatalogError, match=r"older than this sweep \(run sweep catalog upgrade\)"):
        migrate.ready(engine(empty_postgresql_url))


def test_a_database_of_a_newer_sweep_is_left_alone(database_url: str) -> None:
    database = engine(database_url)
    with writing(database) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for attempt in (migrate.ready, migrate.upgrade):
        with pytest.raises(CatalogError, match="this sweep is older than the database"):
            attempt(database)


def test_a_migration_that_fails_leaves_nothing_behind(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    versions = tmp_path / "sql" / "migrations" / "versions"
    versions.mkdir(parents=True)
    real = resources.path("sql/migrations")
    (versions.parent / "env.py").write_text((real / "env.py").read_text())
    for script in (real / "versions").glob("*.py"):
        (versions / script.name).write_text(script.read_text())
    (versions / "9999_fails.py").write_text(
        f"from alembic import op\nrevision, down_revision = '9999', {REVISIONS[-1]!r}\n"
        "def upgrade():\n    op.execute('CREATE TABLE half (a INTEGER)')\n    op.execute('this is not SQL')\n"
    )
    monkeypatch.setattr(resources, "path", lambda name: tmp_path / name)
    database = engine(empty_database_url)
    with pytest.raises(CatalogError, match="the database"):
        migrate.upgrade(database)
    with reading(database) as connection:
        assert inspect(connection).get_table_names() == []


def test_runs_of_an_older_sweep_get_their_workload_from_their_document(empty_database_url: str) -> None:
    database = engine(empty_database_url)
    documents = {"new": '{"plan": {"sweep": {"name": "grid"}}}', "odd": "{}"}
    with writing(database) as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(resources.path("sql/migrations")))
        command.upgrade(config, "0001")
        for name, document in documents.items():
            row = {"name": name, "document": document}
            columns = "name, plan_id, bucket, region, created_at, tasks, cancelled, document"
            connection.execute(
                text(f"INSERT INTO runs ({columns}) VALUES (:name, 'p', 'b', 'r', 0, 1, false, :document)"), row
            )
    migrate.upgrade(database)
    with reading(database) as connection:
        assert dict(connection.execute(select(runs.c.name, runs.c.workload)).fetchall()) == {"new": "grid", "odd": None}


def test_what_attempts_told_before_they_had_rows_is_kept(empty_database_url: str) -> None:
    lane = "sagemaker/us-east-1/ml.g5.xlarge/spot"
    outcome = {"number": 1, "lane": lane, "training": "t", "state": "failed", "cause": "capacity", "ended_at": 7.0}
    documents = {1: json.dumps({"outcomes": [outcome, outcome | {"number": 2, "seconds": 5.0}]}), 2: "", 3: "{}"}
    database = engine(empty_database_url)
    with writing(database) as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(resources.path("sql/migrations")))
        command.upgrade(config, "0009")
        before = MetaData()
        before.reflect(connection, only=["runs", "results"])
        blank = {column.name: "" if isinstance(column.type, Text) else 0 for column in before.tables["results"].columns}
        run = {"plan_id": "p", "bucket": "b", "region": "r", "created_at": 0, "tasks": 3, "cancelled": False}
        connection.execute(before.tables["runs"].insert(), [run | {"name": "one", "document": "{}"}])
        results = [blank | {"run": "one", "task": task, "document": text} for task, text in documents.items()]
        connection.execute(before.tables["results"].insert(), results)
    migrate.upgrade(database)
    with reading(database) as connection:
        columns = (attempts.c.task, attempts.c.number, attempts.c.cause, attempts.c.ended_at, attempts.c.seconds)
        kept = connection.execute(select(*columns).order_by(attempts.c.number)).fetchall()
    assert [tuple(row) for row in kept] == [(1, 1, "capacity", 7.0, 0.0), (1, 2, "capacity", 7.0, 5.0)]
