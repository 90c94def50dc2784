from __future__ import annotations

import os
import stat
import sys
import threading
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest
from sqlalchemy import insert, select, text

from orchestrator.db import engine as engines
from orchestrator.db import migrate
from orchestrator.db.engine import display_name, engine, reading, writing
from orchestrator.db.tables import campaigns, datasets
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_what_is_written_together_stays_together(database_url: str) -> None:
    database = engine(database_url)
    with pytest.raises(CatalogError, match="the database refuses"), writing(database) as connection:
        connection.execute(insert(campaigns), [{"campaign": "alps"}, {"campaign": "alps"}])
    with reading(database) as connection:
        assert connection.execute(select(campaigns)).all() == []


def test_what_is_done_while_reading_does_not_stay(database_url: str) -> None:
    database = engine(database_url)
    with reading(database) as connection:
        connection.execute(insert(campaigns).values(campaign="alps"))
    with reading(database) as connection:
        assert connection.execute(select(campaigns)).all() == []


def test_references_are_kept_by_both_databases(database_url: str) -> None:
    row = {"dataset": "a@1", "campaign": "a", "version": "1", "bytes": 0, "created_at": datetime.now(timezone.utc)}
    with pytest.raises(CatalogError, match="the database refuses"), writing(engine(database_url)) as connection:
        connection.execute(insert(datasets).values(row))


def test_a_moment_comes_out_in_utc_whatever_zone_it_went_in_with(database_url: str) -> None:
    noon = datetime(2026, 11, 20, 12, tzinfo=timezone(timedelta(hours=9)))
    database = engine(database_url)
    with writing(database) as connection:
        connection.execute(insert(campaigns).values(campaign="a"))
        connection.execute(insert(datasets).values(dataset="a@1", campaign="a", version="1", bytes=0, created_at=noon))
    with reading(database) as connection:
        (stored,) = connection.scalars(select(datasets.c.created_at))
    assert stored == noon
    assert stored.tzinfo is timezone.utc


def test_one_writer_waits_for_another(database_url: str) -> None:
    first, second = engine(database_url), engine(database_url)
    begun, waiting = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with writing(first) as connection:
            connection.execute(insert(campaigns).values(campaign="first"))
            begun.set()
            waiting.wait(10)

    thread = threading.Thread(target=write_slowly)
    thread.start()
    begun.wait(10)
    threading.Timer(0.2, waiting.set).start()
    with writing(second) as connection:
        connection.execute(insert(campaigns).values(campaign="second"))
    thread.join()
    with reading(first) as connection:
        assert set(connection.scalars(select(campaigns.c.campaign))) == {"first", "second"}


def test_a_lock_that_is_never_given_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "WAIT_S", 0)
    url = f"sqlite:///{tmp_path}/catalog.db"
    with (
        writing(engine(url)),
        pytest.raises(CatalogError, match="another process kept the database locked"),
        writing(engine(url)) as connection,
    ):
        connection.execute(text("CREATE TABLE a (b)"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sweep.db", "the database's URL cannot be read (write sqlite:///FILE or postgresql://USER@HOST/NAME)"),
        ("postgresql://host:port/x", "the database's URL cannot be read (write sqlite"),
        ("mysql://localhost/x", "databases of kind 'mysql' are not supported (write sqlite"),
        ("sqlite:////nowhere/at/all/sweep.db", "/nowhere/at/all: the folder of the database does not exist (mkdir"),
    ],
)
def test_a_url_that_leads_nowhere_is_refused_at_once(url: str, message: str) -> None:
    with pytest.raises(CatalogError) as error:
        engine(url)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_postgresql_means_psycopg(scheme: str) -> None:
    assert engine(f"{scheme}://somebody@host/name").url.drivername == "postgresql+psycopg"


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    database = engine("postgresql://somebody:secret@localhost:1/name")
    with pytest.raises(CatalogError) as error:
        migrate.ready(database)
    assert str(error.value).startswith(
        "postgresql://somebody:***@localhost:1/name: the database cannot be used: connection failed"
    )
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


PASSWORD = "pass word+%40/x"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://somebody:{}@localhost:1/name",
        "postgresql+psycopg://somebody:{}@localhost:1/name",
        "postgres://localhost:1/name?user=somebody&password={}",
        "postgresql://somebody:x@localhost:1/name?sslpassword={}&sslmode=prefer",
        "postgresql://somebody:{0}@localhost:1/name?password={0}",
    ],
)
@pytest.mark.parametrize("spell", [quote, quote_plus])
def test_no_form_of_a_url_shows_its_password(url: str, spell: Callable[..., str]) -> None:
    secret = spell(PASSWORD, safe="")
    database = engine(url.format(secret))
    with pytest.raises(CatalogError) as error:
        migrate.ready(database)
    for shown in (str(error.value), display_name(database)):
        assert "***" in shown
        assert not [word for word in (PASSWORD, secret, quote(PASSWORD), quote_plus(PASSWORD)) if word in shown]


def test_a_new_file_is_for_its_owner_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    database = engine(f"sqlite:///{tmp_path}/sweep.db")
    migrate.upgrade(database)
    with writing(database) as connection:
        connection.execute(insert(campaigns).values(campaign="alps"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    (tmp_path / "shared.db").touch(mode=0o660)
    (tmp_path / "shared.db").chmod(0o660)
    migrate.upgrade(engine(f"sqlite:///{tmp_path}/shared.db"))
    assert stat.S_IMODE((tmp_path / "shared.db").stat().st_mode) == 0o660


def test_a_missing_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CatalogError, match=r"not installed \(pip install 'sweep-orchestrator\[postgres\]'\)"):
        engine("postgresql://localhost/name")


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be taken for one " * 20)
    with pytest.raises(CatalogError, match=r"notes\.txt: the database .* not a database"):
        migrate.ready(engine(f"sqlite:///{tmp_path}/notes.txt"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CatalogError, match="must be writable"):
        migrate.ready(engine(f"sqlite:///{tmp_path}/catalog.db"))


def test_a_database_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    """What an unwritable folder looks like to root, too."""
    (tmp_path / "sweep.db").mkdir()
    with pytest.raises(CatalogError, match="its folder and files must be writable"):
        migrate.ready(engine(f"sqlite:///{tmp_path}/sweep.db"))
