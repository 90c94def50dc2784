"""Images to every Region's ECR, under one name: SageMaker and Batch pull from their own Region.

Docker does the pushing. It gets a login of its own for each push, and keeps none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.ecr import Ecr, Image
from orchestrator.errors import CloudError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.aws.session import Clients


@dataclass(frozen=True)
class Pushed:
    region: str
    uri: str
    digest: str


def address(name: str) -> str:
    """As a sweep file writes it, for whichever Region it runs in."""
    return f"{{account}}.dkr.ecr.{{region}}.amazonaws.com/{name}"


def push(name: str, regions: Sequence[str], clients: Clients) -> Iterator[Pushed]:
    """A local image to this repository and tag in each Region, one after the other."""
    repository, _, tag = name.partition(":")
    _local(name)
    for region in regions:
        ecr = Ecr(clients, region)
        ecr.make(repository)
        login = ecr.login()
        uri = f"{login.host}/{repository}:{tag or 'latest'}"
        with tempfile.TemporaryDirectory(prefix="sweep-docker-") as config:
            environment = _apart(config)
            _docker(["login", "--username", login.user, "--password-stdin", login.host], environment, login.password)
            _docker(["tag", name, uri], environment)
            _docker(["push", "--quiet", uri], environment)
        image = Image.parse(uri)
        if image is None:
            raise CloudError(f"ECR's registry is called {login.host!r}", where=region, hint="is this AWS's endpoint?")
        yield Pushed(region, uri, ecr.pinned(image).digest)


def _local(name: str) -> None:
    """UsageError, if there is no docker, or no such image."""
    if shutil.which("docker") is None:
        raise UsageError("docker is not installed", hint="images are built and pushed where docker is")
    asked = subprocess.run(["docker", "image", "inspect", name], capture_output=True, text=True, check=False)
    if asked.returncode:
        raise UsageError(f"docker has no image {name!r}: {_last(asked.stderr)}", hint="`make images` builds ours")


def _apart(config: str) -> dict[str, str]:
    """Docker's environment, with a place of its own for logins; which engine to talk to would be kept there too."""
    engine = os.environ.get("DOCKER_HOST") or _docker(
        ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"], dict(os.environ)
    )
    return {**os.environ, "DOCKER_CONFIG": config, "DOCKER_HOST": engine.strip()}


def _docker(arguments: Sequence[str], environment: dict[str, str], stdin: str = "") -> str:
    done = subprocess.run(
        ["docker", *arguments], env=environment, input=stdin, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CloudError(f"docker {arguments[0]} failed: {_last(done.stderr)}", hint="pushing again goes on from there")
    return done.stdout


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "without a word"
