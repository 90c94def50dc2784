"""What is known of instance types is what EC2 says of them, and nothing is guessed."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import botocore.session
import moto
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.wire.shapes import Shape, shape

EC2: dict[str, Any] = json.loads(
    gzip.decompress((Path(moto.__file__).parent / "ec2/resources/instance_types.json.gz").read_bytes())
)
"""DescribeInstanceTypes, as moto carries it."""
GONE = {"p2", "p3", "p6e-gb200"}
"""Families that it does not list: retired since, or not sold by the instance."""


def types_for_training() -> list[str]:
    service = botocore.session.Session().get_service_model("sagemaker")
    resources = service.operation_model("CreateTrainingJob").input_shape.members["ResourceConfig"]
    return sorted(resources.members["InstanceType"].enum)


def gigabits(performance: str) -> float:
    """Return the number that `Up to 25 Gigabit` or `4x 100 Gigabit` stands for."""
    match = re.fullmatch(r"(?:Up to |(\d+)x )?([\d.]+) Gigabit", performance)
    assert match, performance
    return float(match[2]) * int(match[1] or 1)


def test_every_type_that_sagemaker_trains_on_is_known_as_ec2_describes_it() -> None:
    for name in types_for_training():
        compare(name)


def compare(name: str) -> None:
    known = shape(name)
    assert known is not None
    if name.split(".")[1] in GONE:
        return
    described = EC2[name.removeprefix("ml.")]
    assert known.vcpus == described["VCpuInfo"]["DefaultVCpus"]
    assert known.memory_gib == pytest.approx(described["MemoryInfo"]["SizeInMiB"] / 1024)
    assert known.efa == described["NetworkInfo"]["EfaSupported"]
    if known.gbps is not None:
        assert known.gbps == gigabits(described["NetworkInfo"]["NetworkPerformance"])
    gpus = described.get("GpuInfo", {}).get("Gpus", [])
    chips = gpus or described.get("NeuronInfo", {}).get("NeuronDevices", [])
    assert (known.chip.count if known.chip else 0) == sum(chip["Count"] for chip in chips)
    assert known.gpus == sum(gpu["Count"] for gpu in gpus)
    if known.chip:
        assert known.chip.memory_gib == chips[0]["MemoryInfo"]["SizeInMiB"] // 1024
        assert known.chip.name.split()[-1] in chips[0]["Name"]


def test_types_that_ec2_no_longer_sells_are_known_too() -> None:
    classic = shape("ml.p3.16xlarge")
    assert classic is not None
    assert (classic.gpus, classic.kind, classic.efa) == (8, "gpu", False)


def test_a_type_is_the_same_with_and_without_its_prefix() -> None:
    assert shape("ml.p4d.24xlarge") == shape("p4d.24xlarge")
    assert shape("ml.m5.large") == shape("m5.large") == Shape(2, 8)


@pytest.mark.parametrize(
    ("name", "kind"), [("ml.g5.xlarge", "gpu"), ("ml.trn1.32xlarge", "neuron"), ("ml.c7i.48xlarge", "cpu")]
)
def test_what_it_computes_with(name: str, kind: str) -> None:
    known = shape(name)
    assert known is not None
    assert known.kind == kind


@pytest.mark.parametrize(
    "name",
    ["", "ml.", "ml.g5", "ml.g5.3xlarge", "ml.c5.7xlarge", "ml.c5.0xlarge", "ml.c5.01xlarge", "ml.x9.large", "large"],
)
def test_an_unknown_type_is_unknown(name: str) -> None:
    assert shape(name) is None


def families() -> list[tuple[str, str, str]]:
    """Return (family, accelerator, its memory) as the handbook's table has them."""
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (\S+) \| ([^|]+) \| (\d+) GiB \|", page, re.MULTILINE)


@pytest.mark.parametrize(("family", "chip", "memory"), families())
def test_the_handbook_s_table_says_the_same(family: str, chip: str, memory: str) -> None:
    known = [one for name in types_for_training() if name.split(".")[1] == family and (one := shape(name))]
    assert known
    assert {(one.chip.name, one.chip.memory_gib) for one in known if one.chip} == {(chip, int(memory))}


@given(st.text())
def test_any_text_is_either_known_or_not(name: str) -> None:
    assert shape(name) is None or isinstance(shape(name), Shape)
