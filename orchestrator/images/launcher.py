"""The launcher's image: Python, boto3 and this package. It is put together here, and needs no docker."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.aws.account.layers import Layers
from orchestrator.images.base import read_base
from orchestrator.images.compose import compose
from orchestrator.images.layer import make_layer
from orchestrator.images.layout import Layout
from orchestrator.images.packages import OURS, installed_files, wheel_files
from orchestrator.images.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.account.ecr import Ecr
    from orchestrator.images.base import Base

_HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
USUAL_BASE = f"public.ecr.aws/docker/library/python:{_HERE}-slim"
"""The base, if none is named: with the Python that runs us, so that it takes our bytecode."""
_FORM = "1"
"""Another number for images that are put together otherwise."""


@dataclass(frozen=True)
class Parts:
    """The things that an image is made of."""

    base: str = ""
    """An image of a registry, or a file of one; the usual one, if it is empty."""
    wheels: Path | None = None
    """A folder of wheels; without one, the packages are those that are installed here."""


@dataclass(frozen=True)
class Brought:
    """The launcher's image in ECR."""

    uri: str
    """Its address, by its digest."""
    is_new: bool
    is_compiled: bool
    """True if it has bytecode, so that no launcher has to compile."""


def bring(parts: Parts, ecr: Ecr, repository: str) -> Brought:
    """Put the launcher's image into a repository, unless it is there, and return where it is.

    Raise UsageError for a base or wheels that cannot be used, CloudError for a registry that does not answer.
    """
    files = wheel_files(parts.wheels) if parts.wheels else installed_files()
    base = read_base(_source(parts.base or USUAL_BASE))
    compiled = base.python.startswith(f"{_HERE}.")
    tag = _tag(base, files, compiled=compiled)
    layers = Layers(ecr, repository)
    found = layers.find(tag)
    if found is None:
        found = _make(base, files, layers, tag, compiled=compiled)
        return Brought(f"{layers.address}@{found}", is_new=True, is_compiled=compiled)
    return Brought(f"{layers.address}@{found}", is_new=False, is_compiled=compiled)


def _make(base: Base, files: Mapping[str, bytes], layers: Layers, tag: str, *, compiled: bool) -> str:
    """Build an image and put it into ECR: layers first, as ECR wants it. Return its digest."""
    layer = make_layer(files, compiled=compiled)
    image = compose(base, layer, f"sweep-launcher {metadata.version(OURS)}")
    described = json.loads(image.manifest)
    for digest in layers.missing([each["digest"] for each in base.manifest["layers"]]):
        with tempfile.TemporaryDirectory(prefix="sweep-layer-") as folder:
            file = Path(folder, "layer")
            base.source.save(digest, file)
            with file.open("rb") as data:
                layers.upload(digest, data)
    layers.put(layer.digest, layer.data)
    layers.put(described["config"]["digest"], image.config)
    layers.put_image(image.manifest, image.kind, image.digest, tag)
    return image.digest


def _source(name: str) -> Layout | Registry:
    return Layout(Path(name)) if Path(name).is_file() else Registry(name)


def _tag(base: Base, files: Mapping[str, bytes], *, compiled: bool) -> str:
    """Return a tag that is made of all that goes into an image: what has it already is not built again."""
    seen = hashlib.sha256(f"{_FORM} {base.digest} {sys.version if compiled else ''}".encode())
    for name in sorted(files):
        seen.update(f"{name} {hashlib.sha256(files[name]).hexdigest()}\n".encode())
    return f"{metadata.version(OURS)}-{seen.hexdigest()[:16]}".replace("+", "-")
