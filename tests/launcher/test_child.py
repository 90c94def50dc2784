from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import NewerVersion, UsageError
from orchestrator.launcher.child import read_task, this_child
from orchestrator.wire import manifest
from orchestrator.wire.names import index_key
from tests.launcher.fakes import Bucket, task

if TYPE_CHECKING:
    from orchestrator.aws.s3 import S3

KEY = "runs/nightly/submissions/2/1.manifest"
ENVIRONMENT = {"SWEEP_MANIFEST": f"s3://control/{KEY}", "AWS_DEFAULT_REGION": "us-east-1"}


class Ranged(Bucket):
    """A bucket that counts how many bytes were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[str, int]] = []

    def get_range(self, key: str, first: int, stop: int) -> bytes:
        body = self.get(key).body[first:stop]
        self.read.append((key, len(body)))
        return body


def bucket_of(lines: bytes, index: bytes | None = None) -> S3:
    made = Ranged()
    made.put_once(KEY, lines)
    if index is not None:
        made.put_once(index_key(KEY), index)
    return made  # type: ignore[return-value]


def written(count: int) -> tuple[bytes, bytes]:
    lines, index = zip(*manifest.write(task(number=n) for n in range(count)), strict=True)
    return b"".join(lines), b"".join(index)


def test_batch_says_which_line_of_which_run_is_ours() -> None:
    mine = this_child({**ENVIRONMENT, "AWS_BATCH_JOB_ARRAY_INDEX": "7", "AWS_BATCH_JOB_ARRAY_SIZE": "40"})
    assert (mine.run, mine.submission, mine.index, mine.siblings, mine.region) == ("nightly", 2, 7, 40, "us-east-1")


def test_an_ordinary_job_is_an_array_of_one() -> None:
    mine = this_child(ENVIRONMENT)
    assert (mine.index, mine.siblings) == (0, 1)


def test_the_classic_variable_is_understood() -> None:
    assert this_child({"S3_ARRAY_FILE": f"s3://control/{KEY}", "AWS_REGION": "eu-west-1"}).run == "nightly"


@given(st.integers(1, 30), st.data())
def test_every_child_reads_its_own_line(count: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, count - 1))
    mine = this_child({**ENVIRONMENT, "AWS_BATCH_JOB_ARRAY_INDEX": str(index)})
    assert read_task(mine, bucket_of(*written(count))) == task(number=index)


def test_two_ranged_reads_suffice_however_long_the_manifest() -> None:
    lines, index = written(500)
    bucket = bucket_of(lines, index)
    read_task(this_child({**ENVIRONMENT, "AWS_BATCH_JOB_ARRAY_INDEX": "250"}), bucket)
    (first, read_index), (second, read_line) = bucket.read  # type: ignore[attr-defined]
    assert (first, read_index, second) == (index_key(KEY), 2 * manifest.RECORD, KEY)
    assert read_line < len(lines) / 100


def test_a_manifest_without_an_index_is_read_whole() -> None:
    lines, _ = written(3)
    assert read_task(this_child({**ENVIRONMENT, "AWS_BATCH_JOB_ARRAY_INDEX": "2"}), bucket_of(lines)).number == 2


@pytest.mark.parametrize("separator", ["\u2028", "\x85", "\x0c", "\x1c"])
def test_only_a_newline_ends_a_line_of_a_manifest_without_an_index(separator: str) -> None:
    lines, _ = written(2)
    theirs = f"us-west-2,s3://data/a{separator}b\n".encode()
    mine = this_child({**ENVIRONMENT, "AWS_BATCH_JOB_ARRAY_INDEX": "2"})
    assert read_task(mine, bucket_of(theirs + lines)).number == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SWEEP_MANIFEST": ""}, "SWEEP_MANIFEST: not an S3 URI"),
        ({"SWEEP_MANIFEST": "s3://bucket/list.csv"}, "does not lie in a run"),
        ({"AWS_BATCH_JOB_ARRAY_INDEX": "-1"}, "AWS_BATCH_JOB_ARRAY_INDEX: not a number"),
        ({"AWS_DEFAULT_REGION": ""}, "AWS_DEFAULT_REGION: not set"),
    ],
)
def test_an_environment_that_does_not_say_is_one_clear_line(changes: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        this_child({**ENVIRONMENT, **changes})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"us-west-2,s3://data/paris\n", r"0?1\.manifest line 1: a Region and its data are not yet a task"),
        (b"us-west-2,s3://data/paris,{}\n", "line 1: the third column is not a task"),
        (b"hello\n", "line 1: expected region,s3_uri"),
        (b"", "line 1: the manifest has no line 1"),
    ],
)
def test_a_line_that_is_no_task_is_one_clear_line(lines: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_task(this_child(ENVIRONMENT), bucket_of(lines))


def test_a_task_of_a_newer_sweep_is_one_clear_line() -> None:
    line = written(1)[0].replace(b'"version":1', b'"version":3')
    with pytest.raises(
        NewerVersion, match=r"1\.manifest line 1: this manifest line has version 3, and this sweep reads"
    ):
        read_task(this_child(ENVIRONMENT), bucket_of(line))


def test_an_index_beyond_the_manifest_is_one_clear_line() -> None:
    mine = this_child({**ENVIRONMENT, "AWS_BATCH_JOB_ARRAY_INDEX": "3"})
    with pytest.raises(UsageError, match="has no line 3"):
        read_task(mine, bucket_of(*written(3)))
