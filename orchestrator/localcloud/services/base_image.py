"""A registry with one image, that others can be made on. As registries of public images do, it gives everybody a token.

Nothing runs from it here: it says which Python it has, and holds a word.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import secrets
import tarfile
from functools import cache
from typing import Any

from orchestrator.localcloud.http.answers import Answer, AwsError
from orchestrator.localcloud.names import BASE_IMAGE

PREFIX, TOKENS = "/v2/", "/token"
_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
_TOKEN = secrets.token_hex(16)
_NAME, _, _TAG = BASE_IMAGE.partition(":")


def answer(environ: dict[str, Any], endpoint: str) -> Answer:
    """Return what the registry answers. Raise AwsError for what it does not have."""
    path = environ["PATH_INFO"]
    if path == TOKENS:
        return Answer(200, json.dumps({"token": _TOKEN}).encode(), {"Content-Type": "application/json"})
    if environ.get("HTTP_AUTHORIZATION") != f"Bearer {_TOKEN}":
        challenge = f'Bearer realm="{endpoint}{TOKENS}",service="local",scope="repository:{_NAME}:pull"'
        return Answer(401, b"{}", {"Content-Type": "application/json", "WWW-Authenticate": challenge})
    for kind in ("manifests", "blobs"):
        prefix = f"{PREFIX}{_NAME}/{kind}/"
        if path.startswith(prefix) and (found := _contents().get(path.removeprefix(prefix))):
            return Answer(200, found[1], {"Content-Type": found[0]})
    raise AwsError("MANIFEST_UNKNOWN", "this registry has no such image", 404)


@cache
def _contents() -> dict[str, tuple[str, bytes]]:
    """Return all that there is, by its digest, with its type; the index by its tag too."""
    tar = _tar()
    layer = gzip.compress(tar, mtime=0)
    variables = [f"PYTHON_VERSION={platform.python_version()}", "PATH=/usr/local/bin:/usr/bin:/bin"]
    config = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Env": variables, "Cmd": ["python3"]},
            "rootfs": {"type": "layers", "diff_ids": [_digest(tar)]},
            "history": [{"created_by": "the local cloud"}],
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _part(_CONFIG, config),
            "layers": [_part(_LAYER, layer)],
        }
    )
    platform_ = {"os": "linux", "architecture": "amd64"}
    index = _json(
        {"schemaVersion": 2, "mediaType": _INDEX, "manifests": [{**_part(_MANIFEST, manifest), "platform": platform_}]}
    )
    found = {_digest(data): (kind, data) for kind, data in ((_CONFIG, config), (_LAYER, layer), (_MANIFEST, manifest))}
    return {**found, _TAG: (_INDEX, index), _digest(index): (_INDEX, index)}


def _tar() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        entry = tarfile.TarInfo("etc/image")
        entry.size = len(BASE_IMAGE)
        tar.addfile(entry, io.BytesIO(BASE_IMAGE.encode()))
    return packed.getvalue()


def _part(kind: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "size": len(data), "digest": _digest(data)}


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
