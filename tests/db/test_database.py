"""A database is made by whoever writes, and by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from orchestrator.db.database import Database
from orchestrator.db.engine import reading
from orchestrator.db.tables import campaigns
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from pathlib import Path


def test_whoever_only_reads_makes_no_file_and_finds_nothing(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'sweep.db'}")
    assert database.rows.value("SELECT count(*) FROM runs") == 0
    with reading(database.to_read.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(campaigns)) == 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_later_is_read_from_then_on(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'sweep.db'}")
    assert database.rows.value("SELECT count(*) FROM campaigns") == 0
    with database.engine.begin() as connection:
        connection.execute(campaigns.insert().values(campaign="alps"))
    assert database.rows.column("SELECT campaign FROM campaigns") == ["alps"]
    assert database.to_read is database


def test_what_another_process_has_made_meanwhile_is_read(tmp_path: Path) -> None:
    ours, theirs = (Database(f"sqlite:///{tmp_path / 'sweep.db'}") for _ in range(2))
    assert ours.rows.column("SELECT campaign FROM campaigns") == []
    with theirs.engine.begin() as connection:
        connection.execute(campaigns.insert().values(campaign="alps"))
    assert ours.rows.column("SELECT campaign FROM campaigns") == ["alps"]


def test_a_folder_that_is_not_there_is_said_to_readers_too(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="the folder of the database does not exist"):
        _ = Database(f"sqlite:///{tmp_path / 'no' / 'sweep.db'}").rows
