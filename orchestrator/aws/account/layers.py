"""Puts layers and images into a repository of ECR, by its own API, which docker has no part in."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from mypy_boto3_ecr import ECRClient

    from orchestrator.aws.account.ecr import Ecr

_MOST_AT_ONCE = 100
"""Digests that ECR takes in one question."""
_LARGEST_PART = 20 * 1024 * 1024
_KINDS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)


class Layers:
    """One repository, to be filled."""

    def __init__(self, ecr: Ecr, repository: str) -> None:
        self._ecr = ecr
        self._repository = repository

    @property
    def address(self) -> str:
        """The repository's address, as images in it are called."""
        return f"{self._ecr.login().host}/{self._repository}"

    def find(self, tag: str) -> str | None:
        """Return the digest of the image with a tag; None if there is none. Raise NotFound without the repository."""
        with self._errors(f"look for {self._repository}:{tag}"):
            found = self._client.batch_get_image(
                repositoryName=self._repository, imageIds=[{"imageTag": tag}], acceptedMediaTypes=list(_KINDS)
            )["images"]
        return str(found[0]["imageId"]["imageDigest"]) if found else None

    def missing(self, digests: Sequence[str]) -> list[str]:
        """Return those layers that the repository does not have."""
        there: set[str] = set()
        for start in range(0, len(digests), _MOST_AT_ONCE):
            asked = list(digests[start : start + _MOST_AT_ONCE])
            with self._errors("look for layers"):
                answer = self._client.batch_check_layer_availability(
                    repositoryName=self._repository, layerDigests=asked
                )
            there |= {each["layerDigest"] for each in answer["layers"] if each.get("layerAvailability") == "AVAILABLE"}
        return [digest for digest in dict.fromkeys(digests) if digest not in there]

    def put(self, digest: str, data: bytes) -> None:
        """Upload a layer or a configuration, unless it is there."""
        if self.missing([digest]):
            self.upload(digest, io.BytesIO(data))

    def upload(self, digest: str, data: BinaryIO) -> None:
        """Upload a layer, part by part. Somebody may do the same at the same time."""
        client = self._client
        with self._errors(f"upload {digest}"):
            begun = client.initiate_layer_upload(repositoryName=self._repository)
            size, first = min(begun["partSize"], _LARGEST_PART), 0
            while part := data.read(size):
                client.upload_layer_part(
                    repositoryName=self._repository,
                    uploadId=begun["uploadId"],
                    partFirstByte=first,
                    partLastByte=first + len(part) - 1,
                    layerPartBlob=part,
                )
                first += len(part)
            try:
                client.complete_layer_upload(
                    repositoryName=self._repository, uploadId=begun["uploadId"], layerDigests=[digest]
                )
            except client.exceptions.LayerAlreadyExistsException:
                return

    def put_image(self, manifest: bytes, kind: str, digest: str, tag: str) -> None:
        """Make an image of layers that are there, unless it is there already."""
        client = self._client
        with self._errors(f"make the image {self._repository}:{tag}"):
            try:
                client.put_image(
                    repositoryName=self._repository,
                    imageManifest=manifest.decode(),
                    imageManifestMediaType=kind,
                    imageTag=tag,
                    imageDigest=digest,
                )
            except client.exceptions.ImageAlreadyExistsException:
                return

    def _errors(self, what: str) -> AbstractContextManager[None]:
        return aws_errors(what, where=self._ecr.region)

    @property
    def _client(self) -> ECRClient:
        return self._ecr.clients.client("ecr", self._ecr.region)
