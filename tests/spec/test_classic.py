"""A classic JOBARRAY is read line by line, and what is wrong is told with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import SpecError
from orchestrator.spec.classic import check_lines, read_classic
from orchestrator.wire.manifest import ClassicLine, write
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from tests.fixtures.sweeps import make_sweep

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


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "array.csv"
    path.write_text(text)
    return path


def test_a_header_names_parameters_and_the_instance_type_of_each_line(tmp_path: Path) -> None:
    text = """region, s3_uri, lr, layers, augment, instance_type
us-east-1,s3://one/a/,0.1,"64, 32",true,ml.g5.xlarge
us-east-1,s3://one/a/,1e-3,3,,
us-east-1,s3://one/a/,NaN,007,false,
"""
    assert read_classic(written(tmp_path, text)) == [
        ClassicLine("us-east-1", "s3://one/a/", {"lr": 0.1, "layers": "64, 32", "augment": True}, "ml.g5.xlarge"),
        ClassicLine("us-east-1", "s3://one/a/", {"lr": 0.001, "layers": 3}),
        ClassicLine("us-east-1", "s3://one/a/", {"lr": "NaN", "layers": "007", "augment": False}),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("region,s3_uri\n", "array.csv: there are no lines in it"),
        ("region,s3_uri,lr\nus-east-1,s3://a\n", "array.csv:2: 2 cells, where the header names 3"),
        ("region,s3_uri,lr\n\nus-east-1,data,1\n", r"array.csv:3: expected region,s3_uri\[,json\], got"),
        ("region,s3_uri,lr,lr\n", "array.csv:1: there are two columns lr"),
        ("region,s3_uri,source\n", "array.csv:1: all lines of a manifest have the same source"),
        ("region,s3_uri,image\nus-east-1,s3://a/,own image\n", "array.csv:2: image: 'own image' is no image"),
        (
            "region,s3_uri,image\nus-east-1,s3://a/,123456789012.dkr.ecr.eu-west-1.amazonaws.com/own:1\n",
            "array.csv:2: image: it lies in the ECR of eu-west-1, and a training in us-east-1 cannot pull it",
        ),
        ("region,s3_uri,image\nus-east-1,s3://a/,own/{regoin}:1\n", r"array.csv:2: image: \{regoin\} has no meaning"),
        ("region,s3_uri,learning rate\n", "array.csv:1: a column: 'learning rate' cannot name a parameter"),
        ("region,s3_uri,sweep_x\n", "array.csv:1: a column: 'sweep_x' is taken"),
    ],
)
def test_what_is_wrong_below_a_header_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        read_classic(written(tmp_path, text))


def test_a_line_may_have_an_image_of_its_own(tmp_path: Path) -> None:
    text = "region,s3_uri,image\nus-east-1,s3://a/,own/x:{region}\nus-east-1,s3://a/,\n"
    assert read_classic(written(tmp_path, text)) == [
        ClassicLine("us-east-1", "s3://a/", image="own/x:{region}"),
        ClassicLine("us-east-1", "s3://a/"),
    ]


def test_further_columns_without_a_header_are_answered_with_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read_classic(written(tmp_path, "us-east-1,s3://a,0.1\n"))
    assert caught.value.hint == "a header line region,s3_uri,... names further columns"


def test_columns_are_held_against_the_sweep() -> None:
    sweep = make_sweep(space={"lr": [1]}, runtime=1, train__hyperparameters={"depth": 2})
    check_lines(sweep, [ClassicLine("us-east-1", "s3://a/", {"width": 1}, "ml.g5.xlarge")])
    for name in ("lr", "depth"):
        with pytest.raises(SpecError, match=f"{name} is a column of the manifest and a parameter of the sweep"):
            check_lines(sweep, [ClassicLine("us-east-1", "s3://a/", {name: 1})])
    with pytest.raises(SpecError, match=r"ml\.g5\.2xlarge, a type of the manifest, is not in where") as caught:
        check_lines(sweep, [ClassicLine("us-east-1", "s3://a/", instance_type="ml.g5.2xlarge")])
    assert caught.value.hint == "did you mean 'ml.g5.xlarge'?"


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


@pytest.mark.parametrize("line", ["eu-west-1,s3://b/a/\r,x", f"eu-west-1,s3://b/a/,{'x' * 200_000}"])
def test_a_line_that_is_no_csv_is_told_where_it_stands(tmp_path: Path, line: str) -> None:
    file = tmp_path / "lines.manifest"
    file.write_text(line, newline="")
    with pytest.raises(SpecError) as caught:
        read_classic(file)
    assert str(caught.value).startswith(f"{file}:1: not columns of CSV: ")
