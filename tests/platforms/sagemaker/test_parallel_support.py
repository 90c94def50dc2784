"""What cannot start is refused where the file says it, with the list of what would; the rest is said in the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.platforms.sagemaker.aws_images.contents import SMDDP_VERSIONS
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.processes.parallel_support import SMDDP_TYPES
from orchestrator.wire.shapes import shape
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from orchestrator.platforms.base import Complaint
    from orchestrator.spec.sweep import Sweep

PLANNING = SageMakerPlanning({})


def made(parallel: str, framework: str = "", types: str = "ml.p4d.24xlarge", **train: Any) -> Sweep:
    """`framework` is such as `pytorch 2.8.0`, or an image of one's own."""
    name, _, version = framework.partition(" ")
    image = {"train__framework": {"name": name, "version": version}, "train__image": None} if framework else {}
    changes = {f"train__{key}": value for key, value in train.items()}
    return make_sweep(train__parallel=parallel, where__instance_types=types.split(), **image, **changes)


def complaints(*sweep: str, **train: Any) -> list[Complaint]:
    return list(PLANNING.check(made(*sweep, **train)))


def refusal(*sweep: str, **train: Any) -> str:
    """Return what is complained of first, as an error would say it."""
    first = complaints(*sweep, **train)[0]
    return f"{'.'.join(map(str, first.at))}: {first.message} ({first.hint})"


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        (
            ("smddp", "pytorch 2.8.0"),
            r"framework.version: AWS's pytorch 2.8.0 images have no smddp (these have: 1.6.0, ",
        ),
        (("smddp", "tensorflow 2.12.0"), r"AWS's tensorflow 2.12.0 images have no smddp (these have: 2.3.1, "),
        (("smddp", "pytorch 2.1.2"), r"AWS's pytorch 2.1.2 images have no smddp"),
        (("smddp", "", "ml.p4d.24xlarge ml.g5.xlarge"), r"where.instance_types.1: smddp does not run on ml.g5.xlarge"),
        (("smddp", "", "ml.p5.48xlarge"), f"ml.p5.48xlarge (it runs on {', '.join(SMDDP_TYPES)}; or use torchrun)"),
        (("smddp", "", "ml.c5.xlarge"), r"smddp does not run on ml.c5.xlarge"),
        (("torchrun", "tensorflow 2.19.0"), r"train.framework.name: torchrun needs PyTorch"),
        (("torchrun", "pytorch 1.12.1"), r"AWS's pytorch 1.12.1 images do not start torchrun on ml.p4d.24xlarge"),
        (("mpi", "", "ml.trn1.32xlarge"), r"mpi does not run on ml.trn1.32xlarge (Trainium takes torchrun"),
        (("torchrun", "pytorch 2.8.0", "ml.trn1.32xlarge"), "pytorch 2.8.0 images do not run on ml.trn1.32xlarge"),
        (("single", "tensorflow 2.11.0", "ml.trn1.2xlarge"), "tensorflow 2.11.0 images do not run on ml.trn1.2xlarge"),
        (("horovod", "pytorch 2.8.0"), "framework.version: AWS's pytorch 2.8.0 images have no Horovod"),
        (("horovod", "pytorch 2.0.0"), "(set train.image to an image of your own: containers/horovod builds one)"),
        (("horovod", "tensorflow 2.12.0"), "AWS's tensorflow 2.12.0 images have no Horovod"),
    ],
)
def test_what_cannot_start_is_refused_with_what_would(sweep: tuple[str, ...], said: str) -> None:
    assert said in refusal(*sweep)


@pytest.mark.parametrize(
    "sweep",
    [
        ("smddp", "pytorch 2.3.0"),
        ("smddp", "pytorch 2.0"),
        ("smddp", "tensorflow 2.11"),
        ("smddp", "", " ".join(SMDDP_TYPES)),
        ("torchrun", "pytorch 2.4.0"),
        ("torchrun", "pytorch 2.8.0", "ml.c5.xlarge"),
        ("torchrun", "pytorch 1.13.1", "ml.trn1.32xlarge"),
        ("torchrun", "", "ml.trn2.48xlarge"),
        ("single", "", "ml.trn1.2xlarge"),
        ("horovod", "pytorch 1.13.1"),
        ("horovod", "tensorflow 2.11.0"),
        ("horovod", ""),
        ("mpi", "tensorflow 2.19.0"),
        ("mpi", "pytorch 2.8.0"),
    ],
)
def test_what_starts_on_aws_is_accepted(sweep: tuple[str, ...]) -> None:
    assert complaints(*sweep) == []


@pytest.mark.parametrize("framework", sorted(SMDDP_VERSIONS))
def test_every_listed_version_with_smddp_is_accepted(framework: str) -> None:
    for version in SMDDP_VERSIONS[framework]:
        assert complaints("smddp", f"{framework} {version}") == []


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        (("mpi", "", "ml.new.large"), "auto does not know ml.new.large: nothing is known of it (write a number"),
        (("torchrun", "", "ml.trn1.32xlarge"), "its NeuronCores are left to the image"),
    ],
)
def test_auto_is_refused_where_it_would_be_a_guess(sweep: tuple[str, ...], said: str) -> None:
    assert said in refusal(*sweep, processes_per_instance="auto")


def said(*sweep: str, **train: Any) -> tuple[str, ...]:
    return PLANNING.cautions(made(*sweep, **train))


def test_more_processes_than_gpus_are_said() -> None:
    types = "ml.p4d.24xlarge ml.g5.12xlarge ml.g5.xlarge ml.c5.xlarge ml.c5.4xlarge"
    assert said("mpi", "", types, processes_per_instance=8) == (
        "processes_per_instance is 8, but ml.g5.12xlarge has 4 GPUs",
        "processes_per_instance is 8, but ml.g5.xlarge has 1 GPU",
        "processes_per_instance is 8, but ml.c5.xlarge has 4 vCPUs",
    )
    assert said("mpi", "", types) == ()
    assert said("mpi", "", types, processes_per_instance="auto") == ()


def test_instances_without_a_fast_network_are_said() -> None:
    types = "ml.p4d.24xlarge ml.p3.16xlarge ml.c5.4xlarge"
    assert said("mpi", "", types, instances=4) == (
        "4 instances of ml.p3.16xlarge talk over plain TCP, at most 25 Gbps: it has no EFA",
        "4 instances of ml.c5.4xlarge talk over plain TCP: it has no EFA",
    )
    assert said("mpi", "", types) == ()


def test_torchrun_without_gpus_is_said() -> None:
    [one] = said("torchrun", "pytorch 2.8.0", "ml.c5.xlarge ml.g5.xlarge ml.m5.large")
    assert one == "no GPU in ml.c5.xlarge, ml.m5.large: there torch.distributed needs the backend gloo, not nccl"


def test_images_without_mpi4py_are_said() -> None:
    assert "which AWS's PyTorch 2.11 images for GPUs have not" in said("mpi", "pytorch 2.11")[0]
    assert said("mpi", "pytorch 2.8.0") == said("torchrun", "pytorch 2.11") == said("mpi") == ()


def test_quotes_that_the_toolkit_would_not_see_are_said() -> None:
    assert "mpi_options has quotes" in said("mpi", mpi_options="-x GREETING='hello you'")[0]
    assert said("mpi", mpi_options="-x NCCL_DEBUG=INFO") == ()


def test_what_is_unknown_is_said_where_it_matters() -> None:
    [one] = said("torchrun", "", "ml.p4d.24xlarge ml.new.large ml.newer.large")
    assert one.startswith("nothing is known of ml.new.large, ml.newer.large: ")
    assert said("single", "", "ml.new.large") == ()


@given(
    st.sampled_from(["single", "mpi", "horovod", "torchrun", "smddp"]),
    st.sampled_from(["", "pytorch 1.13.1", "pytorch 2.8.0", "pytorch 2.11", "tensorflow 2.11.0", "tensorflow 2.19.0"]),
    st.sampled_from(["ml.p4d.24xlarge", "ml.g5.xlarge", "ml.c5.xlarge", "ml.trn1.32xlarge", "ml.new.large"]),
    st.integers(1, 4),
    st.sampled_from([None, 1, 8, "auto"]),
)
def test_every_combination_is_either_refused_in_one_line_or_has_whole_cautions(
    parallel: str, framework: str, name: str, instances: int, processes: int | str | None
) -> None:
    if parallel == "single" and processes not in (None, 1):
        return
    if parallel == "smddp" and processes not in (None, "auto"):
        return
    sweep = made(parallel, framework, name, instances=instances, processes_per_instance=processes)
    found = list(PLANNING.check(sweep))
    assert not any("\n" in one.message for one in found)
    lines = PLANNING.cautions(sweep)
    known = shape(name)
    assert all(name in line or "mpi4py" in line for line in lines)
    assert any("TCP" in line for line in lines) == (instances > 1 and known is not None and not known.efa)


def test_of_a_choice_of_instances_every_number_that_talks_is_told() -> None:
    [line] = said("mpi", "", "ml.c5.4xlarge", instances=[1, 2, 4])
    assert line == "2 or 4 instances of ml.c5.4xlarge talk over plain TCP: it has no EFA"
