"""Reads an image from a registry, as docker does, and needs no docker for it.

https://distribution.github.io/distribution/spec/api/ and .../spec/auth/token/. Only what everybody may read is read: no
password is sent.
"""

from __future__ import annotations

import hashlib
import json
import re
from time import sleep
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from orchestrator.errors import CloudError, UsageError
from orchestrator.images.base import INDEXES, MANIFESTS
from orchestrator.images.layer import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Answer = TypeVar("Answer")
_HINT = "`sweep images launcher --base FILE` takes a base from a file instead"
_NAME = re.compile(
    r"(?P<scheme>https?://)?(?P<host>localhost(:\d+)?|[\w-]+(\.[\w-]+)+(:\d+)?)/(?P<repository>[a-z0-9._/-]+?)"
    r"(:(?P<tag>[\w.-]+))?(@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')
_TRIES = 4
_PATIENCE_S = 60.0
_PIECE = 1 << 20


class _NotThere(CloudError):
    """A registry that has no such thing."""


class Registry:
    """One image of a registry, such as public.ecr.aws/docker/library/python:3.12-slim."""

    def __init__(self, name: str) -> None:
        """Raise UsageError for what is no image's name with its registry."""
        found = _NAME.fullmatch(name)
        if found is None:
            raise UsageError(
                f"not an image with its registry: {name!r}", hint="as in public.ecr.aws/docker/library/python:3.12-slim"
            )
        self.name = name
        self._home = f"{found['scheme'] or 'https://'}{found['host']}/v2/{found['repository']}"
        self._repository = found["repository"]
        self._reference = found["digest"] or found["tag"] or "latest"
        self._token = ""

    def first(self) -> bytes:
        data = self._read(f"manifests/{self._reference}")
        if self._reference.startswith("sha256:"):
            self._check(digest_of(data), self._reference)
        return data

    def read(self, digest: str) -> bytes:
        for kind in ("manifests", "blobs"):
            try:
                data = self._read(f"{kind}/{digest}")
            except _NotThere:
                continue
            self._check(digest_of(data), digest)
            return data
        raise CloudError(f"{self.name} has no {digest}", hint="the registry has lost a part of this image")

    def save(self, digest: str, file: Path) -> None:
        def copy(answer: BinaryIO) -> str:
            seen = hashlib.sha256()
            with file.open("wb") as target:
                while piece := answer.read(_PIECE):
                    seen.update(piece)
                    target.write(piece)
            return f"sha256:{seen.hexdigest()}"

        for tried in range(1, _TRIES + 1):
            found = self._ask(f"blobs/{digest}", copy)
            if found == digest or tried == _TRIES:
                self._check(found, digest)
                return

    def _read(self, path: str) -> bytes:
        return self._ask(path, lambda answer: answer.read())

    def _ask(self, path: str, use: Callable[[BinaryIO], Answer]) -> Answer:
        """Return what is made of an answer. Raise CloudError if the registry does not give one."""
        url = f"{self._home}/{path}"
        for tried in range(1, _TRIES + 1):
            request = Request(url, headers={"Accept": ", ".join((*INDEXES, *MANIFESTS, "*/*"))})
            if self._token:  # not to where the registry sends us on: what lies there is signed already
                request.add_unredirected_header("Authorization", f"Bearer {self._token}")
            try:
                with urlopen(request, timeout=_PATIENCE_S) as answer:
                    return use(answer)
            except HTTPError as error:
                if error.code == 401 and not self._token:
                    self._token = self._fetch_token(error.headers.get("WWW-Authenticate", ""))
                elif error.code == 404:
                    raise _NotThere(f"there is no image {self.name}", hint="check its name and its tag") from error
                elif (error.code < 500 and error.code != 429) or tried == _TRIES:
                    raise CloudError(f"{self.name} cannot be read: {error}", hint=_HINT) from error
            except (URLError, OSError) as error:
                if tried == _TRIES:
                    raise CloudError(f"{self.name} cannot be reached: {error}", hint=_HINT) from error
            sleep(0.0 if self._token and tried == 1 else 0.5 * tried)
        raise CloudError(f"{self.name} cannot be read", hint=_HINT)

    def _fetch_token(self, challenge: str) -> str:
        """Return the token that a registry gives to everybody, where its challenge says."""
        said = dict(_CHALLENGE.findall(challenge))
        if not challenge.startswith("Bearer ") or urlsplit(said.get("realm", "")).scheme not in ("http", "https"):
            raise CloudError(f"{self.name} may not be read by everybody", hint=_HINT)
        scope = said.get("scope", f"repository:{self._repository}:pull")
        query = urlencode({"service": said.get("service", ""), "scope": scope})
        try:
            with urlopen(f"{said['realm']}?{query}", timeout=_PATIENCE_S) as answer:
                given = json.load(answer)
        except (OSError, ValueError) as error:
            raise CloudError(f"{self.name}: its registry gives no token: {error}", hint=_HINT) from error
        return str(given.get("token") or given.get("access_token", ""))

    def _check(self, found: str, wanted: str) -> None:
        if found != wanted:
            raise CloudError(f"{self.name} came damaged: {found} instead of {wanted}", hint="try again")
