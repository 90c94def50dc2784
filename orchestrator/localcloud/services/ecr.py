"""ECR's images. Nothing here runs from an image, so one that nobody has pushed to any Region is assumed to be in all.

Once a repository of that name is in one Region, AWS's rule holds: an image is where it has been pushed to.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.services.moto_backends import Repositories

Body = dict[str, Any]
_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


class Registry:
    """Answers for images that nobody has pushed; moto answers for all others."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    def assume_images(self, operation: str, body: Body) -> Body | None:
        """Return AWS's answer to BatchGetImage of a repository that no Region has; None for all that moto answers."""
        if operation != "BatchGetImage" or self._repositories.has(body["repositoryName"]):
            return None
        images = [_image(body["repositoryName"], which) for which in body["imageIds"]]
        return {"images": images, "failures": []}


def _image(repository: str, which: dict[str, str]) -> Body:
    """Return an image with a digest that is made from its name, so that it is one image everywhere."""
    name = f"{repository}:{which.get('imageTag', 'latest')}"
    digest = which.get("imageDigest", f"sha256:{hashlib.sha256(name.encode()).hexdigest()}")
    return {
        "repositoryName": repository,
        "imageId": {**which, "imageDigest": digest},
        "imageManifest": "{}",
        "imageManifestMediaType": _MANIFEST,
    }
