"""Rows by plain SQL: the same from a SQLite file, read without SQLAlchemy, and from a server."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from orchestrator.db.database import Database
from orchestrator.db.engine import writing
from orchestrator.db.rows import SqliteRows, file_of
from orchestrator.db.tables import campaigns
from orchestrator.errors import CatalogError

QUERY = "SELECT campaign, description FROM campaigns WHERE campaign <> :but ORDER BY campaign"


@pytest.fixture
def database(database_url: str) -> Database:
    """A database with the campaigns a, b and c; b alone has a description."""
    database = Database(database_url)
    with writing(database.engine) as connection:
        for name, words in (("a", None), ("b", "beach"), ("c", None)):
            connection.execute(campaigns.insert().values(campaign=name, description=words))
    return database


def test_rows_are_tuples_with_names(database: Database) -> None:
    rows = list(database.rows.all(QUERY, but="c"))
    assert [tuple(row) for row in rows] == [("a", None), ("b", "beach")]
    assert rows[1].description == "beach"
    assert database.rows.column(QUERY, but="a") == ["b", "c"]


def test_one_value_is_that_of_the_first_row_or_none(database: Database) -> None:
    assert database.rows.value("SELECT count(*) FROM campaigns") == 3
    assert database.rows.value(QUERY, but="a") == "b"
    assert database.rows.value("SELECT description FROM campaigns WHERE campaign = :name", name="d") is None


def test_a_query_that_is_still_read_hides_nothing_from_the_next_one(database: Database) -> None:
    reading = database.rows.all(QUERY, but="")
    assert next(reading).campaign == "a"
    with writing(database.engine) as connection:
        connection.execute(campaigns.insert().values(campaign="d"))
    assert database.rows.column(QUERY, but="") == ["a", "b", "c", "d"]
    assert [row.campaign for row in reading] == ["b", "c"]


def test_threads_may_read_side_by_side(database: Database) -> None:
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(database.rows.column(QUERY, but=""))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["a", "b", "c"]] * 8


def test_a_file_that_is_not_there_is_empty_to_who_reads_and_made_by_who_writes(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    assert Database(f"sqlite:///{file}").rows.value("SELECT count(*) FROM runs") == 0
    assert not file.exists()
    _ = Database(f"sqlite:///{file}").engine
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_with_an_older_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    Database(f"sqlite:///{file}").upgrade()
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM alembic_version")
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if table != "alembic_version":
                connection.execute(f"DROP TABLE {table}")
    assert Database(f"sqlite:///{file}").rows.value("SELECT count(*) FROM runs") == 0


def test_a_file_that_is_no_database_is_refused_in_our_words(tmp_path: Path) -> None:
    file = tmp_path / "words.db"
    file.write_text("not a database, but a text of some length, so that it has a header of its own\n" * 20)
    with pytest.raises(CatalogError, match="file is not a database"):
        _ = Database(f"sqlite:///{file}").rows


def test_an_error_while_rows_are_read_is_one_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "fine.db"
    database = Database(f"sqlite:///{file}")
    assert isinstance(database.rows, SqliteRows)
    with pytest.raises(CatalogError, match="the database cannot be used: no such table: elsewhere"):
        database.rows.value("SELECT 1 FROM elsewhere")


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:////var/team.db", Path("/var/team.db")),
        ("sqlite:///team.db", Path.cwd() / "team.db"),
        ("sqlite:///team.db?mode=ro", None),
        ("sqlite:///:memory:", None),
        ("sqlite:///file:team.db", None),
        ("sqlite://", None),
        ("postgresql://ada@host/team", None),
    ],
)
def test_only_a_plain_file_is_read_directly(url: str, file: Path | None) -> None:
    assert file_of(url) == file
