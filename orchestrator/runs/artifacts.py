"""Fetches what finished tasks have left in S3, such as their models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from orchestrator.aws.session import Clients
    from orchestrator.runs.views.tasks import TaskRow


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


def fetch_artifacts(
    rows: Iterable[TaskRow], folder: Path, clients: Clients, *, force: bool = False
) -> Iterator[Fetched]:
    """Write the artifacts of tasks below a folder, as `<task>/<name>`, and yield each file once it is whole.

    Raise UsageError, before anything is written, for a file that is there already unless `force` is given, and for a
    folder that cannot be made. Raise NotFound if an artifact is gone.
    """
    downloads = [download for row in rows if row.artifact for download in _downloads(row, folder, clients)]
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


def _downloads(row: TaskRow, folder: Path, clients: Clients) -> Iterator[_Download]:
    """Yield the objects of a task's artifact: the one that its URI names, or all below a URI that ends with a slash."""
    name, _, key = row.artifact.removeprefix("s3://").partition("/")
    bucket, below = S3(clients, row.region, name), folder / str(row.task)
    if not key.endswith("/"):
        yield _Download(row.task, bucket, key, below / PurePosixPath(key).name)
        return
    inside = [(item.key, PurePosixPath(item.key.removeprefix(key))) for item in bucket.list(key)]
    if not inside:
        raise NotFound(f"nothing is left below {row.artifact}", where=f"task {row.task}")
    for item, path in inside:
        if ".." not in path.parts and not path.is_absolute():  # nothing is written outside the task's own folder
            yield _Download(row.task, bucket, item, below / path)
