"""What AWS tells of instance types is what our own table says, and more."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.catalog.files.observe import Observed
from orchestrator.catalog.shapes import told_shapes
from orchestrator.platforms.sagemaker.feeds import instance_shapes
from orchestrator.spec.known_types import KnownTypes
from orchestrator.spec.resources import Resources
from orchestrator.wire.shapes import Chip, Shape, shape
from tests.catalog.platforms import make_catalog
from tests.platforms.feeds.answers import Answers

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


def told(**more: Any) -> Shape:
    """The shape that the catalog has of a type g9.xlarge with these facts."""
    usual = {"InstanceType": "g9.xlarge", "VCpuInfo": {"DefaultVCpus": 4}, "MemoryInfo": {"SizeInMiB": 16384}}
    reading = instance_shapes.read(Answers({"InstanceTypes": [usual | more]}), "us-east-1", NOW)  # type: ignore[arg-type]
    catalog = make_catalog("sqlite://")
    catalog.observe(Observed("instance-types", "instance_types", "us-east-1", NOW, reading.rows))
    with catalog.engine.connect() as connection:
        return told_shapes(connection)["g9.xlarge"]


def chips(name: str, maker: str = "NVIDIA", count: int = 8) -> dict[str, Any]:
    memory = {"SizeInMiB": 262144}
    return {"Gpus": [{"Name": name, "Manufacturer": maker, "Count": count, "MemoryInfo": memory}]}


def test_a_type_without_accelerators() -> None:
    assert told() == Shape(4, 16.0)


def test_gpus_are_told_by_name_number_and_memory() -> None:
    assert told(GpuInfo=chips("B400")).chip == Chip("B400", 8, 256)


def test_an_accelerator_that_is_no_gpu_is_none() -> None:
    assert told(GpuInfo=chips("Gaudi HL-205", "Habana")).chip is None
    inferentia = {"NeuronDevices": [{"Name": "Inferentia2", "Count": 1, "MemoryInfo": {"SizeInMiB": 32768}}]}
    assert told(NeuronInfo=inferentia).chip is None


def test_trainium_is_of_its_own_kind() -> None:
    trainium = {"NeuronDevices": [{"Name": "Trainium3", "Count": 16, "MemoryInfo": {"SizeInMiB": 147456}}]}
    found = told(NeuronInfo=trainium)
    assert (found.kind, found.chip) == ("neuron", Chip("Trainium3", 16, 144))


@pytest.mark.parametrize(
    ("words", "gbps"),
    [("Up to 10 Gigabit", 10), ("100 Gigabit", 100), ("4x 100 Gigabit", 400), ("12.5 Gigabit", 12.5), ("High", None)],
)
def test_the_network_is_read_from_aws_words(words: str, gbps: float | None) -> None:
    assert told(NetworkInfo={"NetworkPerformance": words}).gbps == gbps


def test_resources_find_a_type_that_our_own_table_does_not_know() -> None:
    known = KnownTypes([{"g9.xlarge": told(GpuInfo=chips("B400"))}])
    assert shape("ml.g9.xlarge") is None
    assert known.having(Resources.model_validate({"gpus": 8}), ["ml.g9.xlarge", "ml.c5.xlarge"]) == ["ml.g9.xlarge"]


@pytest.mark.long
def test_the_feed_and_our_own_table_say_the_same_of_the_types_that_moto_knows(clients: Clients) -> None:
    """moto carries AWS's own answer. Its age shows in a few networks, so these are left out."""
    rows = instance_shapes.read(clients, "us-east-1", NOW).rows
    facts: dict[str, dict[str, Any]] = {str(row["instance_type"]): dict(row) for row in rows}
    both = {name: known for name in facts if (known := shape(name))}
    assert len(both) > 100
    for name, known in both.items():
        row = facts[name]
        assert (row["vcpus"], row["memory_gib"]) == (known.vcpus, known.memory_gib), name
        assert (row["chip"], row["chips"]) == ((known.chip.name, known.chip.count) if known.chip else (None, None)), (
            name
        )
