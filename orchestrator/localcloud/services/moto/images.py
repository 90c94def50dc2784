"""What we use of moto's ECR: repositories, their layers and images. See also `backends.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moto.ecr.models import ecr_backends

from orchestrator.localcloud.services.moto.backends import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Collection


class Repositories:
    """ECR's repositories, in all Regions."""

    def has(self, name: str) -> bool:
        """Say whether any Region has a repository of this name."""
        return any(name in backend.repositories for backend in ecr_backends[ACCOUNT].values())

    def has_image(self, region: str, name: str, which: str) -> bool:
        """Say whether a Region's repository has an image with this tag or digest."""
        repository = ecr_backends[ACCOUNT][region].repositories.get(name)
        images = repository.images if repository else []
        return any(which in (*each.image_tags, each.image_digest) for each in images)

    def layers(self, region: str, name: str) -> Collection[str]:
        """Return the digests of the layers that a repository has; none of one that is not there."""
        repository = ecr_backends[ACCOUNT][region].repositories.get(name)
        return set(repository.layers) if repository else set()

    def uploaded(self, region: str, name: str, upload: str) -> bytes | None:
        """Return what was uploaded of a layer so far; None for an upload that is not under way."""
        repository = ecr_backends[ACCOUNT][region].repositories.get(name)
        found = repository.uploads.get(upload) if repository else None
        return bytes(found.layer_parts) if found else None
