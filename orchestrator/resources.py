"""Where `sql/` and `job_definitions/` are: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_HOMES = (_PACKAGE / "_resources", _PACKAGE.parent)
"""A wheel's home first: in site-packages, a `sql` beside us would be somebody else's."""


def path(name: str) -> Path:
    """The file or folder of this name, such as `sql/candidates.sql`."""
    for home in _HOMES:
        if (home / name).exists():
            return home / name
    raise FileNotFoundError(f"{name} is missing from this installation of sweep; install it again")


def text(name: str) -> str:
    return path(name).read_text(encoding="utf-8")
