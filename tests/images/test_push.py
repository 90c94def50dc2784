"""Images go to every Region under one name. Docker's part is a script's, which pushes to the local cloud's ECR."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import CloudError, UsageError
from orchestrator.images.push import address, push

if TYPE_CHECKING:
    from collections.abc import Callable

DOCKER = f"""#!{sys.executable}
import json, os, pathlib, sys
home = pathlib.Path(__file__).parent
with open(home / "calls", "a") as calls:
    calls.write(json.dumps([sys.argv[1:], os.environ.get("DOCKER_CONFIG", "")]) + "\\n")
match sys.argv[1:]:
    case ["image", "inspect", name]:
        if not name.startswith("sweep-"):
            sys.exit(f"Error response from daemon: No such image: {{name}}")
    case ["context", "inspect", *_]:
        print("unix:///run/docker.sock")
    case ["login", "--username", "AWS", "--password-stdin", host]:
        assert sys.stdin.read().endswith("-auth-token")
        pathlib.Path(os.environ["DOCKER_CONFIG"], "config.json").write_text(host)
    case ["tag", name, uri]:
        pass
    case ["push", "--quiet", uri]:
        import boto3  # here: no other call needs it, and it takes long
        host, _, rest = uri.partition("/")
        assert pathlib.Path(os.environ["DOCKER_CONFIG"], "config.json").read_text() == host
        if "broken" in uri:
            sys.exit("denied: your disk is full")
        repository, _, tag = rest.partition(":")
        kind = "application/vnd.docker.distribution.manifest.v2+json"
        about = {{"name": repository}}
        manifest = json.dumps({{"schemaVersion": 2, "mediaType": kind, "layers": [], "annotations": about}})
        ecr = boto3.client("ecr", region_name=host.split(".")[3])
        try:
            ecr.put_image(repositoryName=repository, imageManifest=manifest, imageTag=tag)
        except ecr.exceptions.ImageAlreadyExistsException:
            print("Layer already exists")
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a docker that logs its calls."""
    script = tmp_path / "bin" / "docker"
    script.parent.mkdir()
    script.write_text(DOCKER)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("DOCKER_CONFIG", raising=False)
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    return script.parent


@pytest.mark.usefixtures("cloud_environment", "docker")
def test_an_image_goes_to_every_region_under_one_name(client: Callable[..., Any], name: str) -> None:
    image, regions = f"sweep-{name}:1", ["us-east-1", "eu-west-1"]
    pushed = list(push(image, regions, Clients()))
    assert [one.region for one in pushed] == regions
    for one in pushed:
        assert one.uri == address(image).format(account="123456789012", region=one.region)
        (there,) = client("ecr", one.region).describe_images(repositoryName=f"sweep-{name}")["imageDetails"]
        assert (there["imageDigest"], there["imageTags"]) == (one.digest, ["1"])


@pytest.mark.usefixtures("cloud_environment", "docker")
def test_pushing_again_changes_nothing(name: str) -> None:
    image = f"sweep-{name}:1"
    assert list(push(image, ["eu-west-1"], Clients())) == list(push(image, ["eu-west-1"], Clients()))


@pytest.mark.usefixtures("cloud_environment")
def test_no_login_is_left_behind(docker: Path, name: str) -> None:
    list(push(f"sweep-{name}:1", ["eu-west-1"], Clients()))
    calls = map(json.loads, (docker / "calls").read_text().splitlines())
    configs = [config for arguments, config in calls if arguments[0] == "login"]
    assert configs
    assert not [config for config in configs if Path(config).exists()]


@pytest.mark.usefixtures("cloud_environment", "docker")
def test_an_image_that_docker_does_not_have_is_named() -> None:
    with pytest.raises(UsageError, match=r"docker has no image 'mine:1'.*No such image"):
        list(push("mine:1", ["eu-west-1"], Clients()))


@pytest.mark.usefixtures("cloud_environment", "docker")
def test_what_docker_says_when_it_fails_is_passed_on(name: str) -> None:
    with pytest.raises(CloudError, match="docker push failed: denied: your disk is full"):
        list(push(f"sweep-broken-{name}:1", ["eu-west-1"], Clients()))


def test_without_docker_there_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="docker is not installed"):
        list(push("sweep-pytorch:1", ["eu-west-1"], Clients()))
