"""Says which files of the sources have changed since a run was begun, from the archive that it was begun with."""

from __future__ import annotations

import io
import tarfile
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.runs.sending.templates import source_key
from orchestrator.runs.written.anchor import OtherSources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.source import Package
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor

_NAMED = 5
"""The most files that are named."""


@contextmanager
def saying_changes(package: Package, cloud: Cloud) -> Iterator[None]:
    """Say in an OtherSources that is raised meanwhile which files have changed."""
    try:
        yield
    except OtherSources as error:
        changes = say_changes(error.there, package, cloud)
        raise OtherSources(error.there, error.code, changes) from error


def say_changes(there: Anchor, package: Package, cloud: Cloud) -> str:
    """Return in words which files are others than those that the run was begun with; nothing if nobody can tell."""
    for _, region in there.plan.sites:
        try:
            archive = cloud.bucket(region).get(source_key(there.code)).body
            return compare(archive, package.body)
        except (SweepError, tarfile.TarError, OSError, EOFError):
            continue  # it is not there, or not to be read: the next Region has a copy
    return ""


def compare(old: bytes, new: bytes) -> str:
    """Return in words how two archives differ: `train.py has changed, data.py is new, old.py is gone`."""
    before, now = _contents(old), _contents(new)
    said = {name: "has changed" for name in before.keys() & now.keys() if before[name] != now[name]}
    said |= dict.fromkeys(now.keys() - before.keys(), "is new")
    said |= dict.fromkeys(before.keys() - now.keys(), "is gone")
    named = [f"{name} {what}" for name, what in sorted(said.items())]
    more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + more


def _contents(archive: bytes) -> dict[str, tuple[int, str, str]]:
    """Return of each file its mode, the target of a link, and a digest of what is in it."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as files:
        return {one.name: (one.mode, one.linkname, _digest(files, one)) for one in files.getmembers()}


def _digest(files: tarfile.TarFile, one: tarfile.TarInfo) -> str:
    content = files.extractfile(one) if one.isfile() else None
    return sha256(content.read()).hexdigest() if content else ""
