"""Reads an image from a file: a tar of an OCI layout, as `docker save`, `docker buildx` and skopeo write it.

https://github.com/opencontainers/image-spec/blob/main/image-layout.md
"""

from __future__ import annotations

import shutil
import tarfile
from typing import TYPE_CHECKING, BinaryIO

from orchestrator.errors import UsageError
from orchestrator.images.layer import digest_of

if TYPE_CHECKING:
    from pathlib import Path

_HINT = "`docker save` of docker 25 or newer writes one, and so does `skopeo copy docker://… oci-archive:FILE`"


class Layout:
    """The image of a file."""

    def __init__(self, file: Path) -> None:
        """Raise UsageError for a file that cannot be read."""
        self.name = str(file)
        try:
            self._tar = tarfile.open(file)  # noqa: SIM115 - it is read from as long as we are there
        except (OSError, tarfile.TarError) as error:
            raise UsageError(f"not an OCI layout: {error}", where=self.name, hint=_HINT) from error

    def first(self) -> bytes:
        return self._member("index.json").read()

    def read(self, digest: str) -> bytes:
        data = self._blob(digest).read()
        self._check(digest_of(data), digest)
        return data

    def save(self, digest: str, file: Path) -> None:
        with file.open("wb") as target:
            shutil.copyfileobj(self._blob(digest), target)
        self._check(digest_of(file.read_bytes()), digest)

    def _blob(self, digest: str) -> BinaryIO:
        return self._member(f"blobs/{digest.replace(':', '/')}")

    def _member(self, name: str) -> BinaryIO:
        for each in (name, f"./{name}"):
            try:
                found = self._tar.extractfile(each)
            except KeyError:
                continue
            except (OSError, tarfile.TarError) as error:
                raise UsageError(f"{name} in it cannot be read: {error}", where=self.name, hint=_HINT) from error
            if found is not None:
                return found  # type: ignore[return-value]  # it reads bytes
        raise UsageError(f"not an OCI layout: it has no {name}", where=self.name, hint=_HINT)

    def _check(self, found: str, wanted: str) -> None:
        if found != wanted:
            raise UsageError(f"it is damaged: {found} instead of {wanted}", where=self.name, hint="write it again")
