"""Reads which images of AWS's there are from the tables that the SageMaker SDK carries, without the SDK itself.

The SDK is optional, and takes seconds to import. Its tables are JSON files beside its code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

_PACKAGE, _FOLDER = "sagemaker-core", "sagemaker/core/image_uri_config"


@dataclass(frozen=True)
class Table:
    """The training images of one framework."""

    versions: dict[str, dict[str, Any]]
    """What the SDK says of the images of each version. Hugging Face's are by what they are built on, once more."""
    aliases: dict[str, str]
    """Short versions, and the full ones that they stand for."""

    def of(self, version: str) -> dict[str, Any] | None:
        """Return what is said of a version; None if there is no such version."""
        return self.versions.get(self.aliases.get(version, version))


def read_table(framework: str) -> Table | None:
    """Return the table of a framework; None where the SDK is not installed, or knows no such framework."""
    try:
        folder = Path(str(distribution(_PACKAGE).locate_file(_FOLDER)))
    except PackageNotFoundError:
        return None
    return _read(folder / f"{framework}.json")


def read_sdk_version() -> str:
    """Return the version of the SDK whose tables these are. Raise PackageNotFoundError where it is not installed."""
    return distribution(_PACKAGE).version


@cache
def _read(path: Path) -> Table | None:
    if not path.exists():
        return None
    body = json.loads(path.read_text())
    training = body.get("training", body)
    return Table(training["versions"], training.get("version_aliases", {}))
