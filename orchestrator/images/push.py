"""Pushes images to every Region's ECR, under one name: trainings and Batch pull from their own Region.

Docker does the pushing. It gets a login of its own for each push, and keeps none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.account.ecr import Ecr, Image
from orchestrator.errors import CloudError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.aws.session import Clients


@dataclass(frozen=True)
class Pushed:
    """An image that is in a Region now."""

    region: str
    uri: str
    digest: str


def address(name: str) -> str:
    """Return an image's address as a sweep file writes it, for whichever Region it runs in."""
    return f"{{account}}.dkr.ecr.{{region}}.amazonaws.com/{name}"


def push(name: str, regions: Sequence[str], clients: Clients) -> Iterator[Pushed]:
    """Push a local image to each Region, one after the other, and yield what was pushed.

    The repository and the tag are called as the image is here. Raise UsageError if docker or the image is missing,
    CloudError if docker fails.
    """
    repository, _, tag = name.partition(":")
    _require_local_image(name)
    for region in regions:
        ecr = Ecr(clients, region)
        ecr.make_repository(repository)
        login = ecr.login()
        uri = f"{login.host}/{repository}:{tag or 'latest'}"
        with tempfile.TemporaryDirectory(prefix="sweep-docker-") as config:
            environment = _environment_with_config(config)
            _docker(["login", "--username", login.user, "--password-stdin", login.host], environment, login.password)
            _docker(["tag", name, uri], environment)
            _docker(["push", "--quiet", uri], environment)
        image = Image.parse(uri)
        if image is None:
            raise CloudError(f"ECR's registry is called {login.host!r}", where=region, hint="is this AWS's endpoint?")
        yield Pushed(region, uri, ecr.pin(image).digest)


def _require_local_image(name: str) -> None:
    """Raise UsageError if there is no docker, or no such image."""
    if shutil.which("docker") is None:
        raise UsageError("docker is not installed", hint="images are built and pushed where docker is")
    done = subprocess.run(["docker", "image", "inspect", name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"docker has no image {name!r}: {_last_line(done.stderr)}", hint="`make images` builds ours")


def _environment_with_config(config: str) -> dict[str, str]:
    """Return docker's environment with a folder of its own for logins.

    The engine to talk to would be read from the usual folder, so it is named here.
    """
    engine = os.environ.get("DOCKER_HOST") or _docker(
        ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"], dict(os.environ)
    )
    return {**os.environ, "DOCKER_CONFIG": config, "DOCKER_HOST": engine.strip()}


def _docker(arguments: Sequence[str], environment: dict[str, str], stdin: str = "") -> str:
    done = subprocess.run(
        ["docker", *arguments], env=environment, input=stdin, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CloudError(
            f"docker {arguments[0]} failed: {_last_line(done.stderr)}", hint="pushing again goes on from there"
        )
    return done.stdout


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "without a word"
