"""Paths: where in S3 models, outputs and checkpoints go, when it is not the Region's own bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from orchestrator.aws.s3 import S3
from orchestrator.platforms.base import Complaint
from orchestrator.spec.by_region import S3ByRegion, in_region
from orchestrator.spec.model import Model
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.spec.sweep import Sweep


class Paths(Model):
    """The part of `platforms.sagemaker` that says where trainings leave what they make."""

    output: S3ByRegion | None = Field(
        default=None, description="S3 prefix of models and outputs, with {region} in it or by Region"
    )
    checkpoints: S3ByRegion | None = Field(
        default=None, description="S3 prefix of checkpoints, below which each task has a folder: <run>/<task>"
    )
    compress_output: bool = Field(default=True, description="false: models are left as files, not as model.tar.gz")

    def find_gap(self, region: str) -> str:
        """Return in words which prefix is asked for, but not given for this Region; nothing if all are."""
        for name in ("output", "checkpoints"):
            prefix = getattr(self, name)
            if prefix and not in_region(prefix, region):
                return f"platforms.sagemaker.{name} has no prefix in {region}"
        return ""

    def output_config(self, region: str) -> dict[str, str]:
        """Return the parts of OutputDataConfig that are asked for."""
        compressed: dict[str, str] = {} if self.compress_output else {"CompressionType": "NONE"}
        return {**({"S3OutputPath": in_region(self.output, region)} if self.output else {}), **compressed}


def check_paths(sweep: Sweep, paths: Paths) -> Iterator[Complaint]:
    """Yield a complaint where checkpoints are to go somewhere, but none are saved."""
    if paths.checkpoints and sweep.train.checkpoints is None:
        at = ("platforms", "sagemaker", "checkpoints")
        yield Complaint("nothing is saved that could go there", "add `checkpoints: {every: 15m}` under train", at)


def checkpoint_config(paths: Paths, folder: str | None, region: str, run: str) -> dict[str, Any]:
    """Return what CheckpointConfig says for all tasks of a run; each adds its own folder to the prefix.

    `folder` is where the script saves.
    """
    prefix = in_region(paths.checkpoints, region).rstrip("/") if paths.checkpoints else ""
    return {
        **({"S3Uri": f"{prefix}/{run}"} if prefix else {}),
        **({"LocalPath": folder} if folder else {}),
    }


def look_for_buckets(paths: Paths, region: str, clients: Clients) -> None:
    """Raise NotFound where a bucket that is to be written to is not in the Region."""
    for prefix in (paths.output, paths.checkpoints):
        if prefix:
            S3(clients, region, S3Uri.parse(in_region(prefix, region)).bucket).check_region()
