"""The SageMaker Model Registry: groups of model packages, whose versions are approved or rejected.

A call is sent once, and its answer is given up soon: whoever tells a registry something waits for nothing that it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AlreadyExists, InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients

Approval = Literal["Approved", "Rejected"]
APPROVED: Approval = "Approved"
REJECTED: Approval = "Rejected"


@dataclass(frozen=True)
class ModelVersion:
    """A version in a group, as a listing tells it."""

    arn: str
    number: int
    description: str
    approval: str


@dataclass(frozen=True)
class NewVersion:
    """A version that is to be made."""

    description: str
    container: dict[str, Any]
    """The image, and where the model lies."""
    metadata: Mapping[str, str]
    token: str
    """Tells AWS that two requests are for one and the same version, which it makes once."""


class ModelPackageGroup:
    """One group in the registry of a Region."""

    def __init__(self, clients: Clients, region: str, name: str) -> None:
        self.name = name
        self._where = region
        self._client = clients.client("sagemaker", region, once=True)

    def ensure(self, description: str) -> None:
        """Make the group unless it is there."""
        try:
            with aws_errors(f"look for the model package group {self.name}", where=self._where):
                self._client.describe_model_package_group(ModelPackageGroupName=self.name)
        except (NotFound, InvalidRequest):  # AWS calls a group that is not there an invalid request
            self._make(description)

    def _make(self, description: str) -> None:
        try:
            with aws_errors(f"make the model package group {self.name}", where=self._where):
                self._client.create_model_package_group(
                    ModelPackageGroupName=self.name, ModelPackageGroupDescription=description
                )
        except (AlreadyExists, InvalidRequest) as error:
            if "already exists" not in str(error):
                raise

    def versions(self) -> list[ModelVersion]:
        """Return the versions, the newest first."""
        with aws_errors(f"list the versions of {self.name}", where=self._where):
            pages = self._client.get_paginator("list_model_packages").paginate(ModelPackageGroupName=self.name)
            found = [
                ModelVersion(
                    each["ModelPackageArn"],
                    each.get("ModelPackageVersion", 0),
                    each.get("ModelPackageDescription", ""),
                    each.get("ModelApprovalStatus", ""),
                )
                for page in pages
                for each in page["ModelPackageSummaryList"]
            ]
        return sorted(found, key=lambda version: version.number, reverse=True)

    def create(self, version: NewVersion) -> None:
        """Make an approved version."""
        inference: Any = {"Containers": [version.container]}
        with aws_errors(f"make a version of {self.name}", where=self._where):
            self._client.create_model_package(
                ModelPackageGroupName=self.name,
                ModelPackageDescription=version.description,
                InferenceSpecification=inference,
                ModelApprovalStatus=APPROVED,
                CustomerMetadataProperties=version.metadata,
                ClientToken=version.token,
            )

    def judge(self, version: ModelVersion, approval: Approval, why: str) -> None:
        """Approve or reject a version."""
        with aws_errors(f"change {version.arn}", where=self._where):
            self._client.update_model_package(
                ModelPackageArn=version.arn,
                ModelApprovalStatus=approval,
                ApprovalDescription=why,
            )
