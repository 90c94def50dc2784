"""Is there the image that `train.framework` asks for? As far as the SageMaker SDK's tables are there to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import did_you_mean
from orchestrator.platforms.base import Complaint
from orchestrator.platforms.sagemaker.aws_images.tables import read_sdk_version, read_table
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.spec.train.framework import Framework
    from orchestrator.spec.train.train import Train

_AT = ("train", "framework")
_ON = {"sklearn": {"cpu"}, "xgboost": {"cpu", "gpu"}, "huggingface": {"gpu"}}
"""The kinds of instances that a framework's images are for, where they are not for all."""
_SINGLE = ("sklearn", "xgboost")
"""Frameworks whose images start one process on each instance, and nothing else."""


def check_framework(train: Train, instance_types: Mapping[int, str]) -> Iterator[Complaint]:
    """Yield a complaint for each line that asks for an image of AWS's that does not exist, or does not do it.

    The instance types are those of `where.instance_types` that are SageMaker's, by their index there.
    """
    framework = train.framework
    if framework is None:
        return
    yield from _check_version(framework)
    if framework.name in _SINGLE and train.parallel != "single":
        message = f"AWS's {framework.name} images start one process an instance"
        yield Complaint(message, "leave the line out, or set train.image", ("train", "parallel"))
    if framework.name == "sklearn" and max(train.instance_counts) > 1:
        message = "instances of AWS's sklearn images know nothing of each other"
        yield Complaint(message, "scikit-learn trains on one instance", ("train", "instances"))
    kinds = _ON.get(framework.name, set())
    for index, name in instance_types.items():
        known = shape(name)
        if kinds and known is not None and known.kind not in kinds:
            message = f"AWS's {framework.name} images do not run on {name}"
            hint = f"they are for {' and '.join(sorted(kinds)).upper()} instances"
            yield Complaint(message, hint, ("where", "instance_types", index))


def _check_version(framework: Framework) -> Iterator[Complaint]:
    table = read_table(framework.name)
    if table is None:
        return
    images = table.of(framework.version)
    if images is None:
        known = [*reversed(table.versions), *table.aliases]
        yield _unknown(f"{framework.name} {framework.version}", framework.version, known, "version")
        return
    if framework.base is not None:
        bases = [name for name in images if name != "version_aliases"]
        if framework.base not in bases:
            what = f"huggingface {framework.version} on {framework.base}"
            yield _unknown(what, framework.base, bases, "base")
            return
        images = images[framework.base]
    pythons = images.get("py_versions")
    if pythons and framework.python not in ("py3", *pythons):
        what = f"{framework.name} {framework.version} with {framework.python}"
        yield _unknown(what, framework.python, pythons, "python")


def _unknown(what: str, word: str, known: list[str], key: str) -> Complaint:
    message = f"AWS has no image for {what}, as far as sagemaker-core {read_sdk_version()} knows"
    return Complaint(message, did_you_mean(word, known), (*_AT, key))


def find_missing_image(train: Train, region: str) -> str:
    """Return in words that AWS has no image of the framework in a Region; nothing if it has, or nobody here knows."""
    framework = train.framework
    table = read_table(framework.name) if framework else None
    images: dict[str, Any] | None = table.of(framework.version) if table and framework else None
    if images is None or framework is None:
        return ""
    found = images.get(framework.base or "", images)
    accounts = {region for one in _registries(found) for region in one}
    if not accounts or region in accounts:
        return ""
    return f"AWS has no {framework.name} {framework.version} image in {region}"


def _registries(images: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the accounts by Region: of older versions they differ by Python's version."""
    if "registries" in images:
        yield images["registries"]
        return
    for part in images.values():
        if isinstance(part, dict) and "registries" in part:
            yield part["registries"]
