from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.account.ecr import Ecr, Image, pin_image
from orchestrator.aws.session import Clients
from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "123456789012"
HOST = f"{OURS}.dkr.ecr.eu-west-1.amazonaws.com"
DIGEST = "sha256:" + "a" * 64


def pushed(client: Callable[..., Any], repository: str, tag: str, layer: str = "one", region: str = "eu-west-1") -> str:
    """Push an image with this layer, and return its digest."""
    ecr = client("ecr", region)
    if repository not in {found["repositoryName"] for found in ecr.describe_repositories()["repositories"]}:
        ecr.create_repository(repositoryName=repository)
    kind = "application/vnd.docker.distribution.manifest.v2+json"
    parts = {name: {"digest": uploaded(ecr, repository, name.encode())} for name in ("{}", layer)}
    body = {"schemaVersion": 2, "mediaType": kind, "config": parts["{}"], "layers": [parts[layer]]}
    put = ecr.put_image(repositoryName=repository, imageManifest=json.dumps(body), imageTag=tag)
    return str(put["image"]["imageId"]["imageDigest"])


def uploaded(ecr: Any, repository: str, content: bytes) -> str:
    """Put bytes into a repository, and return their digest."""
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    there = ecr.batch_check_layer_availability(repositoryName=repository, layerDigests=[digest])["layers"]
    if any(layer["layerAvailability"] == "AVAILABLE" for layer in there):
        return digest
    upload = ecr.initiate_layer_upload(repositoryName=repository)["uploadId"]
    end = {"partFirstByte": 0, "partLastByte": len(content) - 1}
    ecr.upload_layer_part(repositoryName=repository, uploadId=upload, layerPartBlob=content, **end)
    ecr.complete_layer_upload(repositoryName=repository, uploadId=upload, layerDigests=[digest])
    return digest


@pytest.mark.parametrize(
    ("uri", "image"),
    [
        (f"{HOST}/team/model:1.2", Image(OURS, "eu-west-1", "amazonaws.com", "team/model", "1.2")),
        (f"{HOST}/model", Image(OURS, "eu-west-1", "amazonaws.com", "model", "latest")),
        (f"{HOST}/model@{DIGEST}", Image(OURS, "eu-west-1", "amazonaws.com", "model", "", DIGEST)),
        (f"{HOST}/model:1@{DIGEST}", Image(OURS, "eu-west-1", "amazonaws.com", "model", "1", DIGEST)),
        (f"{OURS}.dkr.ecr.cn-north-1.amazonaws.com.cn/m:1", Image(OURS, "cn-north-1", "amazonaws.com.cn", "m", "1")),
        ("python:3.12-slim", None),
        ("ghcr.io/team/model:1", None),
    ],
)
def test_an_image_in_ecr_is_told_from_others(uri: str, image: Image | None) -> None:
    assert Image.parse(uri) == image


@pytest.mark.usefixtures("cloud_environment")
def test_a_tag_is_pinned_to_what_it_stands_for_now(client: Callable[..., Any], name: str) -> None:
    first = pushed(client, name, "1")
    assert pin_image(f"{HOST}/{name}:1", OURS, Clients()) == f"{HOST}/{name}@{first}"
    second = pushed(client, name, "1", layer="two")
    assert second != first
    assert pin_image(f"{HOST}/{name}:1", OURS, Clients()) == f"{HOST}/{name}@{second}"


@pytest.mark.usefixtures("cloud_environment")
def test_an_image_that_is_not_in_a_region_is_found_before_anything_runs(client: Callable[..., Any], name: str) -> None:
    pushed(client, name, "1", region="us-east-1")
    with pytest.raises(NotFound, match=f"there is no image .*{name}:1") as caught:
        pin_image(f"{HOST}/{name}:1", OURS, Clients())
    assert caught.value.hint == f"`sweep images push {name}:1` brings it to every Region"


@pytest.mark.usefixtures("cloud_environment")
def test_nor_is_a_tag_that_nobody_has_pushed(client: Callable[..., Any], name: str) -> None:
    pushed(client, name, "1")
    with pytest.raises(NotFound, match=f"there is no image .*{name}:2"):
        pin_image(f"{HOST}/{name}:2", OURS, Clients())


@pytest.mark.parametrize("uri", ["python:3.12", f"{HOST}/model@{DIGEST}", HOST.replace(OURS, "763104351884") + "/dl:1"])
def test_what_is_not_ours_or_pinned_already_stays_as_it_is(uri: str) -> None:
    assert pin_image(uri, OURS, Clients()) == uri


@pytest.mark.usefixtures("cloud_environment")
def test_a_repository_is_made_once(client: Callable[..., Any], name: str) -> None:
    for _ in range(2):
        Ecr(Clients(), "eu-west-1").make_repository(name)
    assert client("ecr", "eu-west-1").describe_repositories(repositoryNames=[name])["repositories"]
