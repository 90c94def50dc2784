"""ECR's images. Nothing here runs from an image, so one that nobody has pushed to any Region is assumed to be in all.

Once a repository of that name is in one Region, AWS's rule holds: an image is where it has been pushed to.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from orchestrator.localcloud.http.call import Call
    from orchestrator.localcloud.services.moto.images import Repositories

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

    def checked(self, call: Call) -> Call:
        """Return a call as moto may answer it. Raise AwsError for layers and images that are not what they say.

        moto looks at no digest, and makes up those of images.
        """
        if call.operation == "CompleteLayerUpload":
            self._check_layer(call)
        if call.operation == "PutImage":
            return self._with_digest(call)
        return call

    def _check_layer(self, call: Call) -> None:
        body = call.document()
        uploaded = self._repositories.uploaded(call.region, body["repositoryName"], body["uploadId"])
        if uploaded is None:
            return
        digest = f"sha256:{hashlib.sha256(uploaded).hexdigest()}"
        if not uploaded:
            raise AwsError("EmptyUploadException", "The specified layer upload does not contain any layer parts.")
        if digest not in body["layerDigests"]:
            raise AwsError(
                "InvalidLayerException",
                f"Layer digests {body['layerDigests']} do not match the digest of the uploaded layer, {digest}",
            )
        if digest in self._repositories.layers(call.region, body["repositoryName"]):
            raise AwsError(
                "LayerAlreadyExistsException",
                f"The layer with digest '{digest}' already exists in the repository '{body['repositoryName']}'",
            )

    def _with_digest(self, call: Call) -> Call:
        body = call.document()
        manifest = body["imageManifest"]
        digest = f"sha256:{hashlib.sha256(manifest.encode()).hexdigest()}"
        if body.get("imageDigest", digest) != digest:
            raise AwsError(
                "ImageDigestDoesNotMatchException",
                f"The provided digest '{body['imageDigest']}' does not match the image's, '{digest}'",
            )
        there = self._repositories.layers(call.region, body["repositoryName"])
        if missing := [each for each in _parts(manifest) if each not in there]:
            raise AwsError("LayersNotFoundException", f"The layers with digests '{', '.join(missing)}' do not exist")
        full = json.dumps({**body, "imageDigest": digest}).encode()
        environ = {**call.environ, "wsgi.input": io.BytesIO(full), "CONTENT_LENGTH": str(len(full))}
        return replace(call, body=full, environ=environ)


def _parts(manifest: str) -> list[str]:
    """Return the digests of an image's configuration and layers. Raise AwsError for what is no manifest."""
    try:
        document = json.loads(manifest)
        config = [document["config"]["digest"]] if document.get("config") else []
        return [*config, *(layer["digest"] for layer in document.get("layers", ()))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"Invalid parameter at 'ImageManifest' failed to satisfy constraint: {error!r}"
        raise AwsError("InvalidParameterException", message) from error


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
