"""Which objects a channel of a request means, and where each of them lies in the channel's folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.sagemaker.host.s3_files import Uri, below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.localcloud.services.moto.backends import Objects


class BadManifest(ValueError):
    """A manifest that SageMaker cannot read, or that names what is not there."""


def find_files(source: dict[str, Any], objects: Objects, part: slice = slice(None)) -> dict[str, Uri]:
    """Return the objects that an S3DataSource means, or a part of them, by their paths in the channel's folder.

    Raise BadManifest when the manifest that it names cannot be read.
    """
    uri = Uri.parse(source["S3Uri"])
    found = _listed(uri, objects) if source["S3DataType"] == "ManifestFile" else _below(uri, objects)
    return dict(list(found)[part])


def _below(prefix: Uri, objects: Objects) -> Iterator[tuple[str, Uri]]:
    for key in objects.keys(prefix.bucket, prefix.key):
        name = below(key, prefix.key)
        if name and not key.endswith("/"):
            yield name, Uri(prefix.bucket, key)


def _listed(manifest: Uri, objects: Objects) -> Iterator[tuple[str, Uri]]:
    """Yield what a manifest lists: `[{"prefix": "s3://bucket/data/"}, "a/1.csv", ...]`, or a prefix alone.

    Its file lies in the folder at the path that follows the prefix.
    """
    try:
        listed = json.loads(objects.read(manifest.bucket, manifest.key))
        head, *names = listed
        prefix = Uri.parse(head["prefix"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadManifest(f"the manifest {manifest} cannot be read: {error!r}") from error
    if not names:
        yield from _below(prefix, objects)
    for name in names:
        uri = Uri(prefix.bucket, prefix.key + name)
        if objects.region(uri.bucket) is None or uri.key not in objects.keys(uri.bucket, uri.key):
            raise BadManifest(f"the manifest {manifest} names {uri}, which is not there")
        yield name, uri
