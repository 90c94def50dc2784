"""No value can break a manifest's line, and every child finds its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.wire.manifest import RECORD, BadLine, ClassicLine, parse, read_line, write
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ANY_TEXT = st.text(st.characters(exclude_categories=()))
"""Commas, quotes, line breaks, NUL, lone surrogates: whatever a string can hold."""
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.one_of(st.booleans(), st.integers(-(2**63), 2**63), FINITE, ANY_TEXT)
LANES = st.builds(
    Lane,
    platform=st.just("sagemaker"),
    region=st.sampled_from(["us-east-1", "eu-west-1"]),
    instance_type=st.just("ml.g5.xlarge"),
    purchase=st.sampled_from(Purchase),
)
PLACES = st.builds(
    Place,
    lane=LANES,
    s3_uri=ANY_TEXT.map("s3://".__add__),
    rate=st.floats(0, 100),
    site=ANY_TEXT,
    instances=st.integers(1, 64),
)
TASKS = st.builds(
    Task,
    number=st.integers(0, 10**9),
    key=ANY_TEXT,
    dataset=ANY_TEXT,
    point=st.dictionaries(ANY_TEXT, SCALARS, max_size=4),
    places=st.lists(PLACES, min_size=1, max_size=3).map(tuple),
    limits=st.builds(Limits, max_runtime_s=st.integers(1, 10**9), envelope=st.one_of(st.none(), st.floats(0, 1e6))),
    after=st.integers(0, 99),
)

LANE = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
TASK = Task(7, "c0ffee", "alps@1", {"lr": 0.1}, (Place(LANE, "s3://data/alps/", 1.5),), Limits(3600))


def written(tasks: Iterable[Task]) -> tuple[bytes, bytes]:
    lines, records = zip(*write(tasks), strict=True)
    return b"".join(lines), b"".join(records)


def reader(body: bytes) -> Callable[[int, int], bytes]:
    return lambda first, stop: body[first:stop]


@given(st.lists(TASKS, max_size=5))
def test_every_task_comes_back_from_its_own_line(tasks: list[Task]) -> None:
    lines, index = written(tasks)
    assert len(lines.decode("ascii").splitlines()) == lines.count(b"\n") == len(tasks)
    for number, task in enumerate(tasks):
        text = read_line(number, reader(index), reader(lines))
        assert parse(text) == task
        assert text.split(",")[0] == task.places[0].lane.region
        # A point's 1, 1.0 and true are equal in Python, but not to a training.
        assert json.dumps(parse(text).point) == json.dumps(task.point)  # type: ignore[union-attr]


@given(TASKS, st.dictionaries(ANY_TEXT, SCALARS, max_size=3), ANY_TEXT)
def test_tasks_that_share_their_places_are_told_apart(task: Task, point: dict[str, bool], key: str) -> None:
    other = replace(task, number=task.number + 1, key=key, point=point)
    lines, _ = written([task, other, replace(other, after=5), replace(other, dataset="other"), task])
    found = [parse(line) for line in lines.decode("ascii").splitlines()]
    assert found == [task, other, replace(other, after=5), replace(other, dataset="other"), task]


@given(ANY_TEXT)
def test_the_second_column_is_one_column_of_printable_text(uri: str) -> None:
    task = replace(TASK, places=(Place(LANE, f"s3://{uri}", 1.0),))
    lines, _ = written([task])
    column = lines.decode("ascii").split(",")[1]
    assert column.isprintable()
    assert parse(lines.decode("ascii")) == task


def test_an_ordinary_uri_stands_in_its_column_as_it_is() -> None:
    lines, _ = written([TASK])
    assert lines.startswith(b'eu-west-1,s3://data/alps/,{"number":7,')


def test_nothing_is_a_manifest_of_no_lines() -> None:
    assert written([]) == (b"", b"0" * 15 + b"\n")


def test_a_value_that_json_lacks_is_never_written() -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        written([replace(TASK, point={"lr": float("nan")})])


@pytest.mark.parametrize("index", [2, 3, 1000])
def test_there_is_no_line_beyond_the_last(index: int) -> None:
    lines, records = written([TASK, TASK])
    assert len(records) == 3 * RECORD
    with pytest.raises(IndexError, match=f"no line {index}"):
        read_line(index, reader(records), reader(lines))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
@settings(max_examples=20)
@given(st.lists(TASKS, min_size=1, max_size=4))
def test_a_shell_still_reads_the_columns(tasks: list[Task]) -> None:
    lines, _ = written(tasks)
    loop = 'while IFS=, read -r f1 f2 f3; do printf \'%s\\n%s\\n%s\\n\' "$f1" "$f2" "$f3"; done'
    out = subprocess.run(["bash", "-c", loop], input=lines, capture_output=True, check=True).stdout
    columns = out.decode("ascii").splitlines()
    assert columns[0::3] == [task.places[0].lane.region for task in tasks]
    assert [Task.from_json(json.loads(column)) for column in columns[2::3]] == tasks


@pytest.mark.parametrize("text", ["eu-west-1,s3://data/a/", "eu-west-1,s3://data/a/\n", "eu-west-1 , s3://data/a/\r\n"])
def test_a_classic_line_of_two_columns_is_accepted(text: str) -> None:
    assert parse(text) == ClassicLine("eu-west-1", "s3://data/a/")


@pytest.mark.parametrize(
    "text",
    ["", "\n", "eu-west-1", "eu-west-1,data", ",s3://data/a", "a,s3://b,c", "a,s3://b,[]", "a,s3://b,{}", "a,s3://b,3"],
)
def test_any_other_line_is_refused(text: str) -> None:
    with pytest.raises(BadLine):
        parse(text)


def test_what_a_newer_writer_added_is_ignored(tmp_path: Path) -> None:
    body = TASK.to_json() | {"new": 1}
    body["limits"] |= {"new": 1}
    body["places"][0] |= {"new": 1}
    path = tmp_path / "manifest"
    path.write_text(f"eu-west-1,s3://data/alps/,{json.dumps(body)}\n")
    assert parse(path.read_text()) == TASK


def test_a_million_lines_take_no_memory() -> None:
    tasks = (replace(TASK, number=number) for number in range(10**9))
    first = next(write(tasks))
    assert first[1] == b"0" * 15 + b"\n"
