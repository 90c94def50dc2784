"""The image that another is made on: its manifest and its configuration, read from a registry or from a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.errors import UsageError
from orchestrator.images.layer import digest_of

if TYPE_CHECKING:
    from pathlib import Path

INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_OS, _MACHINE = "linux", "amd64"
"""Launchers run on Fargate, which takes this unless a job's definition says otherwise."""


class Source(Protocol):
    """A place that images are read from. Whatever is asked for by its digest is held against that."""

    @property
    def name(self) -> str:
        """The image, as messages call it."""

    def first(self) -> bytes:
        """Return what the image's name stands for: a manifest, or an index of several."""

    def read(self, digest: str) -> bytes:
        """Return a manifest or a configuration."""

    def save(self, digest: str, file: Path) -> None:
        """Write a layer into a file."""


@dataclass(frozen=True)
class Base:
    """An image for the machines that launchers run on."""

    source: Source
    digest: str
    manifest: dict[str, Any]
    config: dict[str, Any]

    @property
    def is_docker(self) -> bool:
        """True for docker's own media types, and not OCI's."""
        return "docker" in str(self.manifest.get("mediaType", ""))

    @property
    def python(self) -> str:
        """The version of Python that it has, as its variables tell; empty if they do not."""
        variables = self.config.get("config", {}).get("Env") or ()
        found = (each.partition("=")[2] for each in variables if each.startswith("PYTHON_VERSION="))
        return str(next(found, ""))


def read_base(source: Source) -> Base:
    """Return the image of a source for the machines that launchers run on. Raise UsageError if it has none for them."""
    data = source.first()
    document = _document(data, source)
    if "manifests" in document:
        data = source.read(_choose(document["manifests"], source))
        document = _document(data, source)
    if "config" not in document or "layers" not in document:
        raise UsageError("not an image: it has neither configuration nor layers", where=source.name)
    return Base(source, digest_of(data), document, _document(source.read(document["config"]["digest"]), source))


def _choose(manifests: list[dict[str, Any]], source: Source) -> str:
    for each in manifests:
        platform = each.get("platform")
        # An index of one image may leave out what that is for.
        if platform is None and len(manifests) == 1:
            return str(each["digest"])
        if platform and (platform.get("os"), platform.get("architecture")) == (_OS, _MACHINE):
            return str(each["digest"])
    raise UsageError(f"it has no image for {_OS}/{_MACHINE}, which launchers run on", where=source.name)


def _document(data: bytes, source: Source) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise UsageError(f"not an image: {error}", where=source.name) from error
    if not isinstance(document, dict):
        raise UsageError("not an image: its manifest is no JSON object", where=source.name)
    return document
