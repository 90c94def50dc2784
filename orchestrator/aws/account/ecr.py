"""ECR in one Region: repositories, the way into them, and which image a tag stands for."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from mypy_boto3_ecr import ECRClient

    from orchestrator.aws.session import Clients

_IMAGE = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.(?P<domain>amazonaws\.com(?:\.cn)?)"
    r"/(?P<repository>[a-z0-9._/-]+)(?::(?P<tag>[\w.-]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_KINDS = (
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
)
"""Media types of an image: one for a single platform or a list for several, whichever was pushed."""


@dataclass(frozen=True)
class Image:
    """An image in somebody's ECR."""

    account: str
    region: str
    domain: str
    repository: str
    tag: str
    digest: str = ""

    @classmethod
    def parse(cls, uri: str) -> Image | None:
        """Return the image at this address, with the tag `latest` if it says none; None for one that lies in no ECR."""
        found = _IMAGE.fullmatch(uri)
        if found is None:
            return None
        tag, digest = found["tag"] or "", found["digest"] or ""
        if not tag and not digest:
            tag = "latest"
        return cls(found["account"], found["region"], found["domain"], found["repository"], tag, digest)

    def __str__(self) -> str:
        """Return the image's address, by its digest once that is known: a tag may come to mean another image."""
        name = f"{self.account}.dkr.ecr.{self.region}.{self.domain}/{self.repository}"
        return f"{name}@{self.digest}" if self.digest else f"{name}:{self.tag}"


def pin_image(uri: str, account: str, clients: Clients) -> str:
    """Return the address of the image by its digest, if it lies in this account's ECR; any other address as it is.

    Raise NotFound when there is no such image in this account's ECR.
    """
    image = Image.parse(uri)
    if image is None or image.account != account or image.digest:
        return uri
    return str(Ecr(clients, image.region).pin(image))


@dataclass(frozen=True)
class Login:
    """The credentials that let docker into a registry, for twelve hours."""

    host: str
    user: str
    password: str


class Ecr:
    """This account's registry in one Region."""

    def __init__(self, clients: Clients, region: str) -> None:
        self.clients = clients
        self.region = region

    def login(self) -> Login:
        """Return a login to this account's registry."""
        with aws_errors("get a login for ECR", where=self.region):
            given = self._client.get_authorization_token()["authorizationData"][0]
        user, _, password = base64.b64decode(given["authorizationToken"]).decode().partition(":")
        return Login(given["proxyEndpoint"].removeprefix("https://"), user, password)

    def make_repository(self, repository: str) -> None:
        """Make the repository, unless it is there."""
        with aws_errors(f"make the repository {repository}", where=self.region):
            try:
                self._client.create_repository(repositoryName=repository)
            except self._client.exceptions.RepositoryAlreadyExistsException:
                return

    def pin(self, image: Image) -> Image:
        """Return the image with the digest that its tag stands for now. Raise NotFound when there is no such image."""
        which = {"imageDigest": image.digest} if image.digest else {"imageTag": image.tag}
        with aws_errors(f"look up the image {image}", where=self.region):
            try:
                found = self._client.batch_get_image(
                    registryId=image.account,
                    repositoryName=image.repository,
                    imageIds=[which],  # type: ignore[list-item]  # one of the two keys is enough
                    acceptedMediaTypes=list(_KINDS),
                )["images"]
            except self._client.exceptions.RepositoryNotFoundException:
                found = []
        if not found:
            raise NotFound(
                f"there is no image {image}",
                where=self.region,
                hint=f"`sweep images push {image.repository}:{image.tag}` brings it to every Region",
            )
        return replace(image, digest=found[0]["imageId"]["imageDigest"])

    @property
    def _client(self) -> ECRClient:
        return self.clients.client("ecr", self.region)
