"""Writes files whole or not at all, never over somebody else's, reads no pipe, and knows which files are ours."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

DRAWN_BY_US = "Drawn by sweep"
"""What every picture of ours has in it, where no eye sees it."""
_LARGEST = 10**9
_HEAD = 2048
"""Bytes at a file's beginning that show whether it is ours."""
_PLAN = re.compile(rb'\A\{\s*"id":\s*"[0-9a-f]{12}",\s*"folder":')
_SQLITE = b"SQLite format 3\0"
_TABLES = {"campaigns", "replicas", "runs"}
_LOCAL_CLOUD = {"server.lock", "server.json", "work", "scratch"}
"""All that lies in the folder of a local cloud: `localcloud/home.py` says what each is."""
_BESIDE_DATABASE = re.compile(r"(.+)-(?:wal|shm|journal)")


def read(path: Path) -> bytes:
    """Return what is in a file. Raise OSError for what is none, and for one of more than 1 GB."""
    if check_file(path) > _LARGEST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return path.read_bytes()


def check_file(path: Path) -> int:
    """Return the size of a file. Raise OSError for a folder, and for a pipe or a device, which may never end."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and no file", str(path))
    return status.st_size


def write(path: Path, content: str | bytes) -> None:
    """Write a file in one step, so that nobody ever finds half of it. Raise UsageError if that cannot be done."""
    body = content.encode() if isinstance(content, str) else content
    try:
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
            Path(draft).chmod(0o666 & ~_umask())
            Path(draft).replace(path)
        finally:
            Path(draft).unlink(missing_ok=True)
    except OSError as error:
        hint = "name a file in a folder you can write to"
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path), hint=hint) from error


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there. Raise UsageError if that cannot be done."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be made: {error.strerror}", where=str(path)) from error


def check_replaceable(path: Path, is_ours: Callable[[Path], bool], what: str, *, force: bool) -> None:
    """Raise UsageError if what would be written to `path` took the place of a file that is none of ours.

    `what` names ours in the error's words. `force` replaces any file, but no folder.
    """
    if path.is_dir():
        raise UsageError("is a folder", where=str(path), hint="name the file to write")
    if not force and os.path.lexists(path) and not is_ours(path):
        raise UsageError(f"is there already, and is no {what}", where=str(path), hint="--force replaces it")


def is_plan(path: Path) -> bool:
    """Return whether a file is a plan that we wrote."""
    return _PLAN.match(_head(path)) is not None


def is_picture(path: Path) -> bool:
    """Return whether a file is a picture that we drew."""
    return DRAWN_BY_US.encode() in _head(path)


def is_database(path: Path) -> bool:
    """Return whether a file is a database of ours, or one of those that SQLite keeps beside it."""
    beside = _BESIDE_DATABASE.fullmatch(path.name)
    database = path.with_name(beside[1]) if beside else path
    if _head(database)[: len(_SQLITE)] != _SQLITE:
        return False
    import sqlite3

    # What is not yet in the file itself stands in the log beside it. Where there is none, nothing is to be made there.
    live = database.with_name(f"{database.name}-wal").exists()
    address = f"{database.resolve().as_uri()}?mode=ro" + ("" if live else "&immutable=1")
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.Error:  # a damaged one, or one that only begins so
        return False
    return {name for (name,) in rows} >= _TABLES


def is_local_cloud(folder: Path) -> bool:
    """Return whether a folder is one in which a local cloud keeps its files, and nothing else lies."""
    try:
        names = {entry.name for entry in folder.iterdir()}
    except OSError:
        return False
    return "server.lock" in names and names <= _LOCAL_CLOUD


def _head(path: Path) -> bytes:
    """Return the beginning of a file; nothing of what is no file, or cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""
