"""A classic JOBARRAY is read line by line, and what is wrong is told with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import SpecError
from orchestrator.spec.classic import read_classic
from orchestrator.wire.manifest import ClassicLine, write
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task

if TYPE_CHECKING:
    from pathlib import Path


def test_every_line_is_a_region_and_its_data(tmp_path: Path) -> None:
    path = tmp_path / "array.csv"
    path.write_text("us-east-1,s3://one/a/\r\n\neu-west-1,s3://two/b/\n")
    assert read_classic(path) == [ClassicLine("us-east-1", "s3://one/a/"), ClassicLine("eu-west-1", "s3://two/b/")]


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    path = tmp_path / "array.csv"
    path.write_text("us-east-1,s3://one/a\u2028b\x0bc/\n", encoding="utf-8")
    assert [line.s3_uri for line in read_classic(path)] == ["s3://one/a\u2028b\x0bc/"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "array.csv: there are no lines in it"),
        (
            "us-east-1,s3://a\nus-east-1;s3://b\n",
            r"array.csv:2: expected region,s3_uri\[,json\], got 'us-east-1;s3://b'",
        ),
        ("us-east-1,s3://a,x\n", "array.csv:1: the third column is not a task: 'x' is no JSON"),
        ("us-east-1,s3://a,7\n", "array.csv:1: the third column is not a task: '7' is no JSON object"),
        ("us-east-1,s3://a,{}\n", "array.csv:1: the third column is not a task: it has no 'number'"),
        (
            'us-east-1,s3://a,{"number": 1, "key": "", "dataset": "", "point": {}, "places": 3}\n',
            "array.csv:1: the third column is not a task: one of its values is not what sweep writes there",
        ),
    ],
)
def test_what_is_no_jobarray_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "array.csv"
    path.write_text(text)
    with pytest.raises(SpecError, match=said):
        read_classic(path)


def test_a_manifest_of_ours_is_no_classic_jobarray(tmp_path: Path) -> None:
    lane = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
    task = Task(0, "k", "alps@1", {}, (Place(lane, "s3://a/", 1.0),), Limits(3600))
    path = tmp_path / "array.csv"
    path.write_bytes(b"".join(line for line, _ in write([task])))
    with pytest.raises(SpecError, match=r"array.csv:1: this line holds a task of another run"):
        read_classic(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="absent: cannot be read: No such file"):
        read_classic(tmp_path / "absent")
