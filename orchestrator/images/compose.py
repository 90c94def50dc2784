"""An image of a base and one layer more: its configuration and its manifest, the same bytes each time."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.images.base import MANIFESTS
from orchestrator.images.layer import HOME, digest_of

if TYPE_CHECKING:
    from orchestrator.images.base import Base
    from orchestrator.images.layer import Layer

_OCI, _DOCKER = MANIFESTS
_CONFIGS = {
    _OCI: "application/vnd.oci.image.config.v1+json",
    _DOCKER: "application/vnd.docker.container.image.v1+json",
}
_LAYERS = {
    _OCI: "application/vnd.oci.image.layer.v1.tar+gzip",
    _DOCKER: "application/vnd.docker.image.rootfs.diff.tar.gzip",
}
_USER = "999"
"""No user of the base's, and so with no right to anything there."""
_VARIABLES = {"PYTHONPATH": f"/{HOME}", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True)
class Composed:
    """An image, as ECR has to be told of it. Its layers are those of the base, and one more."""

    kind: str
    """The media type of its manifest."""
    manifest: bytes = field(repr=False)
    config: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        return digest_of(self.manifest)


def compose(base: Base, layer: Layer, title: str) -> Composed:
    """Return the image that runs launchers: the base's, with one layer more."""
    kind = _DOCKER if base.is_docker else _OCI
    config = _bytes(_config(base.config, layer, title))
    parts = [*base.manifest["layers"], _part(_LAYERS[kind], layer.digest, len(layer.data))]
    manifest = {
        "schemaVersion": 2,
        "mediaType": kind,
        "config": _part(_CONFIGS[kind], digest_of(config), len(config)),
        "layers": parts,
    }
    return Composed(kind, _bytes(manifest), config)


def _config(base: dict[str, Any], layer: Layer, title: str) -> dict[str, Any]:
    """Return the base's configuration with our layer, command and variables. It tells no time of its own."""
    config = deepcopy(base)
    container = config.setdefault("config", {})
    kept = [each for each in container.get("Env") or () if each.partition("=")[0] not in _VARIABLES]
    container["Env"] = [*kept, *(f"{name}={value}" for name, value in _VARIABLES.items())]
    container["Cmd"] = ["python", "-m", "orchestrator.launcher"]
    container["Entrypoint"] = None
    container["User"] = _USER
    container["Labels"] = {**(container.get("Labels") or {}), "org.opencontainers.image.title": title}
    config.setdefault("rootfs", {"type": "layers", "diff_ids": []})["diff_ids"].append(layer.diff_id)
    config.setdefault("history", []).append({"created_by": title})
    return config


def _part(kind: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": kind, "size": size, "digest": digest}


def _bytes(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
