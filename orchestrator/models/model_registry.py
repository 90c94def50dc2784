"""The champion in the SageMaker Model Registry: the newest approved version of the workload's model package group.

A version is known again by its description, which the listing tells and nobody can change: telling the registry the
same thing twice changes nothing. Versions that others have put into the group are left as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from orchestrator.aws.model_packages import APPROVED, REJECTED, ModelPackageGroup, NewVersion
from orchestrator.runs.sending.champion import Lying, bring_model
from orchestrator.wire.names import digest

if TYPE_CHECKING:
    from orchestrator.aws.model_packages import ModelVersion
    from orchestrator.models.promotion import Promotion
    from orchestrator.runs.cloud import Cloud

_DESCRIPTION = re.compile(r"sweep promotion (\d+):")
_LONGEST_TEXT = 1024
_LONGEST_VALUE = 256
_NOT_IN_VALUES = re.compile(r"[^\w .:/=+@-]")


class ModelRegistry:
    """The groups of workloads in the registry of one Region."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._region = cloud.account.model_registry

    def point_to(self, promotion: Promotion) -> None:
        """Approve the version of this promotion's model, which is made if need be, and reject our others.

        The champion's is approved first, so that there is one at any time. Raise SweepError if AWS does not answer, or
        refuses, or if the model is gone.
        """
        workload = promotion.model.workload
        group = ModelPackageGroup(self._cloud.clients, self._region, workload)
        group.ensure(f"The champions of {workload}")
        if not any(_promotion_of(version) == promotion.origin for version in group.versions()):
            group.create(self._new(promotion))
        ours = [version for version in group.versions() if _promotion_of(version)]
        # Two who make the same version at once may have made two: the newer one is kept.
        champion = next((version for version in ours if _promotion_of(version) == promotion.origin), None)
        if champion and champion.approval != APPROVED:
            group.judge(champion, APPROVED, _line(promotion.why))
        for version in ours:
            if version is not champion and version.approval == APPROVED:
                group.judge(version, REJECTED, f"promotion {promotion.number} is the champion")

    def _new(self, promotion: Promotion) -> NewVersion:
        model = promotion.model
        token = digest([self._region, model.workload, promotion.origin, model.run, model.task], 32)
        return NewVersion(
            _line(f"sweep promotion {promotion.origin}: {promotion.why}"),
            self._container(promotion),
            _lineage(promotion),
            token,
        )

    def _container(self, promotion: Promotion) -> dict[str, Any]:
        """Return the image, and where the model lies: in the registry's own Region, which AWS insists on."""
        model = promotion.model
        artifact = model.artifact
        if model.region != self._region:
            folder = f"s3://{self._cloud.bucket_name(self._region)}/champions/{model.workload}/{promotion.origin}/"
            bring_model(Lying(artifact, model.region), folder, self._region, self._cloud.clients)
            artifact = folder if artifact.endswith("/") else f"{folder}{artifact.rpartition('/')[2]}"
        image = {"Image": model.image} if model.image else {}
        if artifact.endswith(".tar.gz"):
            return {**image, "ModelDataUrl": artifact}
        kind = "S3Prefix" if artifact.endswith("/") else "S3Object"
        source = {"S3Uri": artifact, "S3DataType": kind, "CompressionType": "None"}
        return {**image, "ModelDataSource": {"S3DataSource": source}}


def _promotion_of(version: ModelVersion) -> int:
    """Return the promotion that first brought a version's model; 0 for a version that is not ours."""
    found = _DESCRIPTION.match(version.description)
    return int(found[1]) if found else 0


def _lineage(promotion: Promotion) -> dict[str, str]:
    """Return what a version's model was made of, in the characters that AWS takes."""
    model = promotion.model
    known = {
        "workload": model.workload,
        "run": model.run,
        "task": str(model.task),
        "promotion": str(promotion.origin),
        "dataset": model.dataset,
        "data_mark": model.data_mark,
        "code": model.code,
        "metric": model.metric,
        "score": "" if model.score is None else f"{model.score:.6g}",
    }
    return {f"sweep.{name}": _NOT_IN_VALUES.sub("_", value)[:_LONGEST_VALUE] for name, value in known.items() if value}


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_TEXT]
