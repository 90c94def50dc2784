"""Is an image of AWS's, named by its URI, one for trainings on these instance types? Its name and its tag say so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms.base import Complaint
from orchestrator.platforms.sagemaker.aws_images.named import ACCOUNTS
from orchestrator.spec.train.image import registry_region
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_URI = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.[^/]+/(?P<repository>[^:@]+)(?::(?P<tag>[^@]+))?(?P<digest>@sha256:[0-9a-f]+)?"
)
_AT = ("train", "image")
_KINDS = {"cpu", "gpu"}


@dataclass(frozen=True)
class _Image:
    """The parts of an image's URI that say what it is for."""

    repository: str
    tag: str
    digest: str

    @property
    def words(self) -> set[str]:
        """The words of its tag, such as 2.8.0, gpu, py312 and sagemaker."""
        return set(self.tag.split("-"))

    @property
    def kind(self) -> str:
        """`cpu` or `gpu`, if its tag says so; else nothing."""
        return "".join(self.words & _KINDS)


def find_foreign_registry(image: str | None, region: str) -> str:
    """Return in words that an image lies in another Region's ECR: no training pulls it from there. Else nothing."""
    lies_in = registry_region(image or "")
    if lies_in in ("", region):
        return ""
    return f"the image lies in the ECR of {lies_in}, and trainings pull from their own Region's: write {{region}}"


def check_uri(image: str | None, instance_types: Mapping[int, str], *, own_start: bool) -> Iterator[Complaint]:
    """Yield a complaint for an image of AWS's that trains nothing, or leaves the accelerators idle that are paid for.

    With `own_start`, our starter starts the training: then the image needs no toolkit of AWS's.
    """
    found = _read(image)
    if found is None:
        return
    if (not found.tag and not found.digest) or found.tag == "latest":
        yield Complaint("AWS tags none of its images `latest`", "name a version, as in AWS's list of its images", _AT)
    if not own_start and "inference" in found.repository:
        message = f"{found.repository} serves models: there is no training toolkit in it"
        yield Complaint(message, f"name {found.repository.replace('inference', 'training')}", _AT)
    if not own_start and "ec2" in found.words:
        message = f"{found.tag} is for EC2: there is no SageMaker training toolkit in it"
        yield Complaint(message, f"name {found.tag.replace('-ec2', '-sagemaker')}, or write a command", _AT)
    for index, name in instance_types.items():
        known = shape(name)
        if found.kind == "cpu" and known is not None and known.kind == "gpu":
            message = f"{found.tag} is for CPUs: the GPUs of {name} would be paid for, and idle"
            yield Complaint(
                message, "name the image for GPUs, or leave the type out", ("where", "instance_types", index)
            )


def uri_cautions(image: str | None, instance_types: Iterable[str]) -> Iterator[str]:
    """Yield a caution for instance types without a GPU, on which an image for GPUs is to run."""
    found = _read(image)
    shapes = {name: shape(name) for name in instance_types}
    without = [name for name, known in shapes.items() if known is not None and known.kind == "cpu"]
    if found is not None and found.kind == "gpu" and without:
        yield f"the image {found.tag} is for GPUs, and {', '.join(without)} has none: what needs CUDA fails there"


def _read(image: str | None) -> _Image | None:
    """Return the parts of an image's URI; None if it is none of AWS's."""
    match = _URI.fullmatch(image or "")
    if match is None or match["account"] not in ACCOUNTS:
        return None
    return _Image(match["repository"], match["tag"] or "", match["digest"] or "")
