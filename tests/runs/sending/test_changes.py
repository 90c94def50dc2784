"""Which files have changed since a run was begun is told by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.source import pack
from orchestrator.runs.sending.changes import compare, say_changes
from orchestrator.runs.sending.templates import source_key

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runs.bench import Desk


def packed(folder: Path, **files: str) -> bytes:
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return pack(folder).body


def test_what_has_changed_is_new_or_is_gone_is_named(tmp_path: Path) -> None:
    old = packed(tmp_path / "code", train="1", data="2", gone="3")
    new = packed(tmp_path / "code", train="1 ", data="2", fresh="")
    assert compare(old, new) == "fresh.py is new, gone.py is gone, train.py has changed"
    assert compare(old, old) == ""


def test_few_of_many_are_named(tmp_path: Path) -> None:
    old = packed(tmp_path / "code", train="")
    new = packed(tmp_path / "code", train="", **{f"new{number}": "" for number in range(9)})
    assert compare(old, new).endswith("new4.py is new and 4 more")


def test_the_archive_is_looked_for_in_the_regions_of_the_run(desk: Desk, tmp_path: Path) -> None:
    anchor = desk.anchor()
    old = packed(tmp_path / "code", train="1")
    packed(tmp_path / "code", train="2")
    now = pack(tmp_path / "code")
    assert say_changes(anchor, now, desk.cloud()) == ""
    desk.cloud().bucket("us-east-1").put_once(source_key(anchor.code), old)
    assert say_changes(anchor, now, desk.cloud()) == "train.py has changed"


def test_an_archive_that_is_damaged_tells_nothing(desk: Desk, tmp_path: Path) -> None:
    anchor = desk.anchor()
    packed(tmp_path / "code", train="2")
    desk.cloud().bucket("us-east-1").put_once(source_key(anchor.code), b"no archive")
    assert say_changes(anchor, pack(tmp_path / "code"), desk.cloud()) == ""
