"""Which files are ours, and which may be written over."""

from __future__ import annotations

import json
import os
import sqlite3
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from orchestrator.chart.drawing import Drawing
from orchestrator.chart.encode import encode
from orchestrator.db.engine import engine, writing
from orchestrator.db.migrate import upgrade
from orchestrator.errors import UsageError
from orchestrator.files import check_replaceable, is_database, is_picture, is_plan, read, write

if TYPE_CHECKING:
    from pathlib import Path

PLAN = json.dumps({"id": "0123456789ab", "folder": ".", "version": 1, "sweep": {}}, indent=1)


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_picture_of_ours_is_known_and_others_are_not(tmp_path: Path, form: str) -> None:
    (tmp_path / "ours").write_bytes(encode(Drawing(10, 10, ()), form))
    (tmp_path / "theirs.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    assert is_picture(tmp_path / "ours")
    assert not is_picture(tmp_path / "theirs.svg")


def test_a_plan_is_known_by_how_it_begins(tmp_path: Path) -> None:
    for name, content, ours in [
        ("plan", PLAN, True),
        ("one line", json.dumps(json.loads(PLAN)), True),
        ("json", '{"id": "x", "folder": 1}', False),
        ("code", "print(1)", False),
        ("empty", "", False),
    ]:
        (tmp_path / name).write_text(content)
        assert is_plan(tmp_path / name) is ours, name
    assert not is_plan(tmp_path)
    assert not is_plan(tmp_path / "absent")


def test_a_database_of_ours_is_known_with_what_sqlite_keeps_beside_it(tmp_path: Path) -> None:
    ours = engine(f"sqlite:///{tmp_path / 'sweep.db'}")
    upgrade(ours)
    with writing(ours) as connection:
        connection.execute(text("DELETE FROM runs"))
    for name in ("sweep.db", "sweep.db-wal", "sweep.db-shm"):
        assert (tmp_path / name).exists()
        assert is_database(tmp_path / name), name
    theirs = sqlite3.connect(tmp_path / "data.db")
    theirs.execute("CREATE TABLE runs (x)")
    theirs.commit()
    theirs.close()
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + b"x" * 4096)
    (tmp_path / "notes-wal").write_text("")
    for name in ("data.db", "broken.db", "notes-wal", "absent-wal"):
        assert not is_database(tmp_path / name), name


def test_a_file_that_is_none_of_ours_is_replaced_only_by_force(tmp_path: Path) -> None:
    script, plan, link = tmp_path / "train.py", tmp_path / "plan.json", tmp_path / "link"
    script.write_text("print(1)")
    plan.write_text(PLAN)
    link.symlink_to("nowhere")
    check_replaceable(tmp_path / "new", is_plan, "plan", force=False)
    check_replaceable(plan, is_plan, "plan", force=False)
    for foreign in (script, link):
        with pytest.raises(UsageError, match=r"is there already, and is no plan \(--force replaces it\)"):
            check_replaceable(foreign, is_plan, "plan", force=False)
        check_replaceable(foreign, is_plan, "plan", force=True)
    with pytest.raises(UsageError, match="is a folder"):
        check_replaceable(tmp_path, is_plan, "plan", force=True)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new"
    with pytest.raises(UsageError, match="cannot be written"):
        write(tmp_path / "absent" / "file", "new")
    with pytest.raises(UsageError, match="cannot be written"):
        write(tmp_path, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_only_a_file_is_read_and_nothing_that_never_ends(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert read(tmp_path / "link") == b"content"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 10**9 + 1)  # a hole: it takes no room
    for name, why in [
        ("pipe", "it is a pipe or a device"),
        ("/dev/zero", "it is a pipe or a device"),
        ("loop", "symbolic links"),
        ("large", "File too large"),
        (".", "Is a directory"),
        ("absent", "No such file"),
    ]:
        with pytest.raises(OSError, match=why):
            read(tmp_path / name)
