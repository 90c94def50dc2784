"""What tasks have left in S3 is fetched whole, below one folder, and replaces nothing unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import NotFound, UsageError
from orchestrator.runs.artifacts import fetch_artifacts
from tests.cli.fake import row

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.aws.s3 import S3


def test_an_object_becomes_a_file_in_its_task_s_folder(s3: S3, tmp_path: Path) -> None:
    s3.put_once("out/model.tar.gz", b"weights")
    rows = [row(3, region=s3.region, artifact=s3.uri("out/model.tar.gz")), row(4, region=s3.region)]
    (fetched,) = fetch_artifacts(rows, tmp_path / "best", s3.clients)
    assert fetched.path == tmp_path / "best" / "3" / "model.tar.gz"
    assert fetched.path.read_bytes() == b"weights"
    assert [path.name for path in fetched.path.parent.iterdir()] == ["model.tar.gz"]


def test_a_folder_in_s3_becomes_a_folder_and_nothing_lands_outside_it(s3: S3, tmp_path: Path) -> None:
    for key in ("many/a.bin", "many/deep/b.bin", "many/../../escaped.bin"):
        s3.put_once(key, b"x")
    fetched = list(fetch_artifacts([row(3, region=s3.region, artifact=s3.uri("many/"))], tmp_path, s3.clients))
    assert [str(one.path.relative_to(tmp_path)) for one in fetched] == ["3/a.bin", "3/deep/b.bin"]


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(s3: S3, tmp_path: Path) -> None:
    s3.put_once("kept/model.tar.gz", b"new")
    rows = [row(3, region=s3.region, artifact=s3.uri("kept/model.tar.gz"))]
    mine = tmp_path / "3" / "model.tar.gz"
    mine.parent.mkdir()
    mine.write_bytes(b"mine")
    with pytest.raises(UsageError, match="is there already"):
        list(fetch_artifacts(rows, tmp_path, s3.clients))
    assert mine.read_bytes() == b"mine"
    list(fetch_artifacts(rows, tmp_path, s3.clients, force=True))
    assert mine.read_bytes() == b"new"


def test_what_is_gone_is_said_and_leaves_no_half_file(s3: S3, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(fetch_artifacts([row(3, region=s3.region, artifact=s3.uri("gone/model.tar.gz"))], tmp_path, s3.clients))
    with pytest.raises(NotFound, match="nothing is left below"):
        list(fetch_artifacts([row(3, region=s3.region, artifact=s3.uri("gone/"))], tmp_path, s3.clients))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
