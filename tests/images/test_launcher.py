"""The launcher's image is made in ECR without docker: the same parts are one image, and it is made once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.aws.account.ecr import Ecr
from orchestrator.aws.session import Clients
from orchestrator.errors import UsageError
from orchestrator.images import launcher
from orchestrator.images.launcher import Parts, bring
from orchestrator.images.layer import digest_of
from orchestrator.images.packages import wheel_files
from tests.images.parts import FILES, a_base, as_json, make_wheels, part, write_tar
from tests.localcloud.conftest import BatchDesk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud import LocalCloud

DOCKER = "application/vnd.docker.distribution.manifest.v2+json"


@pytest.fixture
def repository(client: Callable[..., Any], name: str) -> str:
    for region in ("us-east-1", "eu-west-1"):
        client("ecr", region).create_repository(repositoryName=name)
    return name


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, cloud_environment: dict[str, str], cloud: LocalCloud) -> Parts:  # noqa: ARG001
    """Few packages, on the base of the local cloud."""
    monkeypatch.setattr(launcher, "installed_files", lambda: FILES)
    return Parts(f"{cloud.endpoint}/docker/library/python:slim")


def manifest_of(client: Callable[..., Any], repository: str, uri: str) -> dict[str, Any]:
    asked = {"repositoryName": repository, "imageIds": [{"imageDigest": uri.rpartition("@")[2]}]}
    (image,) = client("ecr").batch_get_image(**asked)["images"]
    assert image["imageId"]["imageDigest"] == digest_of(image["imageManifest"].encode())
    found: dict[str, Any] = json.loads(image["imageManifest"])
    return found


def test_the_same_parts_are_one_image_everywhere_and_made_once(
    small: Parts, client: Callable[..., Any], repository: str
) -> None:
    made = bring(small, Ecr(Clients(), "us-east-1"), repository)
    assert (made.is_new, made.is_compiled) == (True, True)
    again = bring(small, Ecr(Clients(), "us-east-1"), repository)
    assert (again.uri, again.is_new) == (made.uri, False)
    elsewhere = bring(small, Ecr(Clients(), "eu-west-1"), repository)
    assert elsewhere.uri.partition("@")[2] == made.uri.partition("@")[2]
    assert len(manifest_of(client, repository, made.uri)["layers"]) == 2


def test_other_packages_are_another_image_on_layers_that_are_there(
    small: Parts, client: Callable[..., Any], repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ecr = Ecr(Clients(), "us-east-1")
    before = manifest_of(client, repository, bring(small, ecr, repository).uri)
    monkeypatch.setattr(launcher, "installed_files", lambda: {**FILES, "more.py": b"1"})
    after = manifest_of(client, repository, bring(small, ecr, repository).uri)
    assert before["layers"][0] == after["layers"][0]
    assert before["layers"][1] != after["layers"][1]


@pytest.mark.usefixtures("cloud_environment")
def test_wheels_and_a_base_in_a_file_need_no_network(
    client: Callable[..., Any], repository: str, tmp_path: Path
) -> None:
    wheels = make_wheels(tmp_path / "wheels", "sweep_orchestrator", "boto3", "our_platform")
    base = write_tar(tmp_path / "base.tar", a_base(kind=DOCKER))
    made = bring(Parts(str(base), wheels), Ecr(Clients(), "us-east-1"), repository)
    assert (made.is_new, made.is_compiled) == (True, False)
    manifest = manifest_of(client, repository, made.uri)
    assert manifest["mediaType"] == DOCKER
    assert manifest["layers"][1]["mediaType"].startswith("application/vnd.docker.image.rootfs.diff")
    assert "our_platform/__init__.py" in wheel_files(wheels)
    assert not [name for name in wheel_files(wheels) if name.endswith("RECORD")]


def test_wheels_without_ours_or_boto3_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no wheel of boto3 \(`pip wheel sweep-orchestrator`"):
        wheel_files(make_wheels(tmp_path / "wheels", "sweep_orchestrator"))


def test_a_wheel_for_one_kind_of_machine_is_refused(tmp_path: Path) -> None:
    import zipfile

    wheels = make_wheels(tmp_path / "wheels", "sweep_orchestrator", "boto3")
    with zipfile.ZipFile(wheels / "fast-1.0-cp311.whl", "w") as wheel:
        wheel.writestr("fast/core.so", "")
    with pytest.raises(UsageError, match=r"is compiled for this machine \(fast/core.so\)"):
        wheel_files(wheels)


def test_ecr_takes_no_layer_and_no_image_that_is_not_what_it_says(client: Callable[..., Any], repository: str) -> None:
    ecr = client("ecr")
    upload = ecr.initiate_layer_upload(repositoryName=repository)["uploadId"]
    this = {"repositoryName": repository, "uploadId": upload}
    with pytest.raises(ClientError, match="EmptyUploadException"):
        ecr.complete_layer_upload(**this, layerDigests=[digest_of(b"")])
    ecr.upload_layer_part(**this, partFirstByte=0, partLastByte=2, layerPartBlob=b"abc")
    with pytest.raises(ClientError, match="InvalidLayerException"):
        ecr.complete_layer_upload(**this, layerDigests=[digest_of(b"abd")])
    ecr.complete_layer_upload(**this, layerDigests=[digest_of(b"abc")])
    image = {"schemaVersion": 2, "mediaType": DOCKER, "config": part(b"abc"), "layers": [part(b"xyz")]}
    put = {"repositoryName": repository, "imageManifest": as_json(image).decode(), "imageTag": "1"}
    with pytest.raises(ClientError, match=f"LayersNotFoundException.*{digest_of(b'xyz')}"):
        ecr.put_image(**put)
    put["imageManifest"] = as_json({**image, "layers": []}).decode()
    with pytest.raises(ClientError, match="ImageDigestDoesNotMatchException"):
        ecr.put_image(**put, imageDigest=digest_of(b"abc"))
    made = ecr.put_image(**put)["image"]["imageId"]["imageDigest"]
    assert made == digest_of(put["imageManifest"].encode())


def test_batch_starts_what_ecr_has_by_its_digest_and_nothing_else(
    small: Parts, client: Callable[..., Any], repository: str
) -> None:
    uri = bring(small, Ecr(Clients(), "us-east-1"), repository).uri
    desk = BatchDesk(client("batch"), repository)
    there = desk.define(["true"], container={"image": uri})
    assert desk.end(desk.submit([], definition=there))["status"] == "SUCCEEDED"
    other = desk.define(["true"], container={"image": f"{uri.partition('@')[0]}@{digest_of(b'no image')}"})
    failed = desk.end(desk.submit([], definition=other))
    assert failed["status"] == "FAILED"
    reason = failed["attempts"][0]["container"]["reason"]
    assert reason.startswith("CannotPullContainerError: ")
    assert reason.endswith("not found")
