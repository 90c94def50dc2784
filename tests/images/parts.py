"""Small parts of images: files that stand for packages, wheels, and a base in a file."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

from orchestrator.images.layer import digest_of

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"orchestrator/launcher.py": b"print('launched')\n", "boto3/data/a.json": b"{}"}
OCI = "application/vnd.oci.image.manifest.v1+json"


def make_wheels(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/__init__.py", "")
            wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return folder


def a_base(machine: str = "amd64", kind: str = OCI) -> dict[str, bytes]:
    """An image as an OCI layout has it: its files by their names."""
    layer = b"a layer"
    config = as_json({"architecture": machine, "os": "linux", "config": {"Env": ["PATH=/bin", "PYTHON_VERSION=3.1.0"]}})
    manifest = as_json({"schemaVersion": 2, "mediaType": kind, "config": part(config), "layers": [part(layer)]})
    platform = {"os": "linux", "architecture": machine}
    index = as_json({"schemaVersion": 2, "manifests": [{**part(manifest), "platform": platform}]})
    blobs = {f"blobs/{digest_of(data).replace(':', '/')}": data for data in (layer, config, manifest)}
    return {"oci-layout": b"{}", "index.json": index, **blobs}


def write_tar(file: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(file, "w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return file


def part(data: bytes) -> dict[str, Any]:
    return {"digest": digest_of(data), "size": len(data)}


def as_json(document: Any) -> bytes:
    return json.dumps(document).encode()
