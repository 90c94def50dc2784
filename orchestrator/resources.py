"""Finds `sql/` and `job_definitions/`: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_HOMES = (_PACKAGE / "_resources", _PACKAGE.parent)
"""The folders that are searched. A wheel's is first: in site-packages, a `sql` beside us would be somebody else's."""


def path(name: str) -> Path:
    """Return the file or folder of a name such as `sql/candidates.sql`. Raise FileNotFoundError if it is missing."""
    for home in _HOMES:
        if (home / name).exists():
            return home / name
    raise FileNotFoundError(f"{name} is missing from this installation of sweep; install it again")


def text(name: str) -> str:
    """Return what the file of this name holds."""
    return path(name).read_text(encoding="utf-8")
