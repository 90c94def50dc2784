"""Types by what they are made of: AWS's and those that platforms bring; and what is wrong with resources."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.spec.known_types import KnownTypes
from orchestrator.spec.resources import Resources
from orchestrator.wire.shapes import Chip, Shape
from tests.fixtures.sweeps import make_sweep

POOL = {
    "pool.desk": Shape(vcpus=16, memory_gib=64, chip=Chip("RTX 4090", 2, 24)),
    "pool.rack": Shape(vcpus=64, memory_gib=512),
}
AWS = ["ml.g5.xlarge", "ml.g5.12xlarge", "ml.c5.xlarge", "ml.new.large"]


def test_a_type_that_nobody_knows_is_left_out() -> None:
    names = ["ml.new.large", "ml.c5.xlarge", "m5.large", "pool.rack"]
    assert KnownTypes().having(Resources(cpus=1), names) == ["ml.c5.xlarge", "m5.large"]


def test_a_type_of_a_platform_is_found_by_what_the_platform_says_of_it() -> None:
    known = KnownTypes([POOL])
    assert known.having(Resources(gpus=2), [*AWS, *POOL]) == ["pool.desk"]
    assert known.having(Resources(gpu=["rtx 4090"]), [*AWS, *POOL]) == ["pool.desk"]
    assert known.having(Resources(cpus=48, memory="256GiB"), [*AWS, *POOL]) == ["pool.rack"]
    assert known.having(Resources(gpus=1), [*AWS, *POOL]) == ["ml.g5.xlarge"]


def test_of_two_platforms_with_one_name_the_first_is_believed() -> None:
    other = {"pool.rack": Shape(vcpus=2, memory_gib=4)}
    assert KnownTypes([POOL, other]).shape("pool.rack") == POOL["pool.rack"]
    assert KnownTypes([other, POOL]).shape("pool.rack") == other["pool.rack"]


def test_what_none_has_is_one_line_if_one_is_to_blame() -> None:
    assert KnownTypes().missing(Resources(gpus=3, cpus=4), AWS) == "gpus: 3"
    assert KnownTypes().missing(Resources(gpus=1, gpu=["A10G"], cpus=8), AWS) == "gpus: 1, gpu: [A10G], cpus: 8"


@pytest.mark.parametrize(
    ("where", "runtime", "said", "at"),
    [
        ({"resources": {"gpu": ["L4", "Trainium"]}}, 1, "no GPU is known as 'Trainium'", "where.resources.gpu.1"),
        ({"resources": {"gpu": ["RTX 4090"]}}, 1, "no GPU is known as 'RTX 4090'", "where.resources.gpu.0"),
        (
            {"instance_types": AWS, "resources": {"gpus": 8}},
            1,
            "none of the instance types has gpus: 8",
            "where.resources",
        ),
        (
            {"resources": {"gpus": 1}},
            {"ml.c5.xlarge": 1},
            "ml.c5.xlarge has not what where.resources asks for",
            "runtime.ml.c5.xlarge",
        ),
        (
            {"resources": {"gpus": 1}},
            {"pool.rack": 1},
            "pool.rack has not what where.resources asks for",
            "runtime.pool.rack",
        ),
    ],
)
def test_resources_that_nothing_known_has_are_a_mistake(
    where: dict[str, Any], runtime: Any, said: str, at: str
) -> None:
    (mistake,) = KnownTypes().mistakes(make_sweep(where=where, runtime=runtime))
    assert (mistake.message, ".".join(map(str, mistake.at))) == (said, at)


def test_what_a_platform_has_is_no_mistake() -> None:
    known = KnownTypes([POOL])
    for where in ({"resources": {"gpu": ["rtx 4090"]}}, {"resources": {"gpus": 2}, "instance_types": [*AWS, *POOL]}):
        assert not list(known.mistakes(make_sweep(where=where, runtime={"pool.desk": 1})))


def test_a_gpu_of_a_platform_helps_with_a_misspelt_name() -> None:
    (mistake,) = KnownTypes([POOL]).mistakes(make_sweep(where={"resources": {"gpu": ["rtx 409"]}}))
    assert mistake.hint == "did you mean 'RTX 4090'?"
    (mistake,) = KnownTypes([POOL]).mistakes(make_sweep(where={"resources": {"gpu": ["A10"]}}))
    assert mistake.hint == "did you mean 'A10G'?"
