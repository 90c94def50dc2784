"""Fetches what finished tasks have left in S3, such as their models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from orchestrator.aws.session import Clients


class Left(Protocol):
    """What a task has left in S3, and where: a row of results, or a promoted model."""

    @property
    def task(self) -> int: ...
    @property
    def artifact(self) -> str: ...
    @property
    def region(self) -> str: ...


@dataclass(frozen=True)
class Fetched:
    """A file that was fetched."""

    task: int
    uri: str
    path: Path


@dataclass(frozen=True)
class _Download:
    task: int
    bucket: S3
    key: str
    path: Path


def fetch_artifacts(rows: Iterable[Left], folder: Path, clients: Clients, *, force: bool = False) -> Iterator[Fetched]:
    """Write the artifacts of tasks below a folder, as `<task>/<name>`, and yield each file once it is whole.

    Raise UsageError, before anything is written, for a file that is there already unless `force` is given, and for a
    folder that cannot be made. Raise NotFound if an artifact is gone.
    """
    left = [row for row in rows if row.artifact]
    return _fetch([one for row in left for one in _downloads(row, folder / str(row.task), clients)], force=force)


def fetch_artifact(left: Left, folder: Path, clients: Clients, *, force: bool = False) -> Iterator[Fetched]:
    """Write the artifact of one task into a folder, and yield each file once it is whole, as `fetch_artifacts` does."""
    return _fetch(list(_downloads(left, folder, clients)), force=force)


def _fetch(downloads: list[_Download], *, force: bool) -> Iterator[Fetched]:
    there = next((download.path for download in downloads if download.path.exists()), None)
    if there is not None and not force:
        raise UsageError("is there already", where=str(there), hint="--force replaces it, --to names another folder")
    for download in downloads:
        try:
            download.path.parent.mkdir(parents=True, exist_ok=True)
            download.bucket.download(download.key, download.path)
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=str(download.path)) from error
        yield Fetched(download.task, download.bucket.uri(download.key), download.path)


def _downloads(row: Left, below: Path, clients: Clients) -> Iterator[_Download]:
    """Yield the objects of a task's artifact: the one that its URI names, or all below a URI that ends with a slash."""
    name, _, key = row.artifact.removeprefix("s3://").partition("/")
    bucket = S3(clients, row.region, name)
    if not key.endswith("/"):
        yield _Download(row.task, bucket, key, below / PurePosixPath(key).name)
        return
    inside = [(item.key, PurePosixPath(item.key.removeprefix(key))) for item in bucket.list(key)]
    if not inside:
        raise NotFound(f"nothing is left below {row.artifact}", where=f"task {row.task}")
    for item, path in inside:
        if ".." not in path.parts and not path.is_absolute():  # nothing is written outside the folder
            yield _Download(row.task, bucket, item, below / path)
