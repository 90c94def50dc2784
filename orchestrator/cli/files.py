"""Writes files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from orchestrator.errors import UsageError


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
