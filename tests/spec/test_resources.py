"""Instance types by what they are made of: every type that has what is asked for, and no other."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from orchestrator.spec.known_types import KnownTypes
from orchestrator.spec.resources import Resources, gib, matches
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.shapes import gpu_names, shape
from tests.fixtures.sweeps import make_sweep


def types_for_training() -> list[str]:
    service = botocore.session.Session().get_service_model("sagemaker")
    resources = service.operation_model("CreateTrainingJob").input_shape.members["ResourceConfig"]
    return sorted(resources.members["InstanceType"].enum)


TYPES = types_for_training()


def found(**resources: Any) -> str:
    """The types that SageMaker trains on and that have these resources, without `ml.`, as one text."""
    names = KnownTypes().having(Resources.model_validate(resources), TYPES)
    return " ".join(name.removeprefix("ml.") for name in names)


@pytest.mark.parametrize(
    ("resources", "names"),
    [
        ({"gpus": 4, "gpu": ["A10G", "L4"]}, "g5.12xlarge g5.24xlarge g6.12xlarge g6.24xlarge"),
        ({"gpus": 4, "gpu": ["A10G", "L4"], "memory": "256GiB"}, "g5.24xlarge g6.24xlarge"),
        ({"gpus": 4, "gpu": ["a10g"], "cpus": 49}, "g5.24xlarge"),
        ({"gpus": 1, "gpu_memory": "80GB"}, "g7e.2xlarge g7e.4xlarge g7e.8xlarge p5.4xlarge"),
        ({"gpus": 1, "gpu": ["V100"]}, "p3.2xlarge"),
        ({"gpus": 8, "gpu_memory": "40GiB", "gpu": ["A100"]}, "p4d.24xlarge p4de.24xlarge"),
        ({"gpus": 8, "gpu_memory": "41GiB", "gpu": ["A100"]}, "p4de.24xlarge"),
        ({"gpus": 1, "gpu": ["T4"], "efa": True}, "g4dn.16xlarge g4dn.8xlarge"),
        ({"gpus": 3}, ""),
        ({"gpus": 0, "cpus": 128, "memory": "1536GiB"}, "m8i.96xlarge r7i.48xlarge r8i.48xlarge r8i.96xlarge"),
    ],
)
def test_the_types_are_those_that_have_it(resources: dict[str, Any], names: str) -> None:
    assert found(**resources) == names


@pytest.mark.parametrize(
    ("size", "fits"), [("24GB", True), ("22GiB", True), ("22.5GiB", True), ("23GiB", False), ("25GB", False)]
)
def test_a_gpu_that_is_sold_as_24_gb_has_24_gb(size: str, fits: bool) -> None:
    assert ("g5.xlarge" in found(gpu_memory=size).split()) == fits


def test_trainium_is_never_meant_unless_it_is_named() -> None:
    assert not [name for name in found(cpus=1).split() if name.startswith("trn")]
    assert not [name for name in found(gpus=0).split() if name.startswith("trn")]


KNOWN = [one for name in TYPES if (one := shape(name))]


@given(
    st.sampled_from(KNOWN),
    st.none() | st.integers(0, 16),
    st.lists(st.sampled_from(gpu_names()), unique=True, max_size=3),
    st.none() | st.integers(1, 200),
    st.none() | st.integers(1, 2100),
    st.none() | st.integers(1, 300),
    st.booleans(),
)
def test_a_type_matches_exactly_if_each_line_alone_matches(
    one: Any, gpus: int | None, gpu: list[str], cpus: int | None, memory: int | None, each: int | None, efa: bool
) -> None:
    lines: dict[str, Any] = {"gpus": gpus, "gpu": gpu, "cpus": cpus, "efa": efa}
    lines |= {"memory": memory and f"{memory}GiB", "gpu_memory": each and f"{each}GiB"}
    if gpus == 0:
        lines |= {"gpu": [], "gpu_memory": None}
    asked = {key: value for key, value in lines.items() if value or (key == "gpus" and value is not None)}
    if not asked:
        return
    alone = [matches(one, Resources.model_validate({key: value})) for key, value in asked.items()]
    assert matches(one, Resources.model_validate(asked)) == all(alone)


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        ({}, "there is nothing in it"),
        ({"efa": False}, "there is nothing in it"),
        ({"gpus": -1}, "greater than or equal to 0"),
        ({"gpus": 1.0}, "valid integer"),
        ({"gpus": 0, "gpu": ["L4"]}, "0 GPUs have no name"),
        ({"gpus": 0, "gpu_memory": "1GB"}, "0 GPUs have no name"),
        ({"gpu": ["L4", "l4"]}, "'L4' is listed twice"),
        ({"gpu": "L4"}, "valid list"),
        ({"memory": "0GB"}, "is not above 0"),
        ({"memory": "64"}, "not a size of memory"),
        ({"memory": "-1GB"}, "not a size of memory"),
        ({"memory": "64GBs"}, "not a size of memory"),
        ({"memory": 64}, "expected a size of memory, got 64"),
        ({"efa": "yes"}, "valid boolean"),
        ({"tpu": 1}, "Extra inputs"),
    ],
)
def test_what_no_instance_could_have_is_refused(resources: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Resources.model_validate(resources)
    assert said in str(caught.value)


def test_sizes_are_in_gb_or_gib() -> None:
    assert gib("64GiB") == 64
    assert gib("64 GB") == pytest.approx(59.6, abs=0.01)
    assert gib("7.5GiB") == 7.5


def test_resources_are_written_as_the_file_has_them() -> None:
    written = Resources.model_validate({"efa": True, "gpu": ["a10g", "L4"], "memory": "64GB", "gpus": 4})
    assert str(written) == "gpus: 4, gpu: [A10G, L4], memory: 64GB, efa: true"


def test_a_sweep_remembers_what_its_file_says_when_types_were_found_for_it() -> None:
    asked = make_sweep(where={"resources": {"gpus": 1}})
    found = asked.with_types(["ml.g5.xlarge", "ml.g6.xlarge"])
    assert found.where.instance_types == ["ml.g5.xlarge", "ml.g6.xlarge"]
    stored = Sweep.model_validate(found.model_dump(mode="json"))
    assert stored == found
    assert stored.as_written() == found.with_types(["ml.g4dn.xlarge"]).as_written() == asked == asked.as_written()


def test_names_that_the_file_gives_beside_resources_are_remembered_too() -> None:
    names = ["ml.g5.xlarge", "ml.g5.12xlarge"]
    asked = make_sweep(where={"instance_types": names, "resources": {"gpus": 4}}, runtime={"ml.g5.xlarge": 1})
    found = Sweep.model_validate(asked.with_types(["ml.g5.12xlarge"]).model_dump(mode="json"))
    assert found.where.instance_types == ["ml.g5.12xlarge"]
    assert found.as_written().where.instance_types == names


def test_a_plan_of_a_sweep_that_names_its_types_says_nothing_of_how_they_were_found() -> None:
    assert "named_types" not in make_sweep().model_dump(mode="json")["where"]


def test_a_runtime_may_be_given_for_every_type_that_has_the_resources() -> None:
    where = {"resources": {"gpus": 1}}
    sweep = make_sweep(where=where, runtime={"ml.g5.xlarge": 1, "ml.g6.xlarge": 2})
    found = sweep.with_types(["ml.g6.xlarge"])
    assert Sweep.model_validate(found.model_dump(mode="json")) == found
