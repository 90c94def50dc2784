"""The packages of the launcher's image: this one, and boto3 with what it needs. They are installed here, or wheels."""

from __future__ import annotations

import re
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OURS = "sweep-orchestrator"
_NEEDED = "boto3"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_LEFT_OUT = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json")
"""Files that say how a package came here, and not what it is."""
_OF_OUR_NAME = ("METADATA", "entry_points.txt")
_COMPILED = (".so", ".pyd", ".dylib")
_WAY_OUT = "give a folder of wheels with --wheels"


def installed_files() -> dict[str, bytes]:
    """Return the files of this package and of boto3, with all that it needs, as they are installed here.

    Raise UsageError if one of them cannot be taken along.
    """
    files = dict(_our_files())
    for name in sorted(_needed(_NEEDED)):
        files |= _files_of(name)
    return files


def wheel_files(folder: Path) -> dict[str, bytes]:
    """Return the files of all wheels in a folder. Raise UsageError unless this package and boto3 are among them."""
    wheels = sorted(folder.glob("*.whl"))
    names = {wheel.name.partition("-")[0].replace("_", "-").lower() for wheel in wheels}
    missing = [name for name in (OURS, _NEEDED) if name not in names]
    if missing:
        where = str(folder)
        raise UsageError(
            f"there is no wheel of {' and '.join(missing)}", where=where, hint=f"`pip wheel {OURS}` makes all"
        )
    files: dict[str, bytes] = {}
    for wheel in wheels:
        try:
            files |= _unpacked(wheel)
        except (OSError, zipfile.BadZipFile) as error:
            raise UsageError(f"not a wheel: {error}", where=str(wheel), hint="download it again") from error
    return files


def _unpacked(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and _is_kept(PurePosixPath(name))]
        _check(wheel.name, names)
        return {name: archive.read(name) for name in names}


def _our_files() -> Iterator[tuple[str, bytes]]:
    home = Path(__file__).resolve().parents[1]
    for path in sorted(home.rglob("*")):
        name = PurePosixPath(home.name, path.relative_to(home).as_posix())
        if path.is_file() and _is_kept(name):
            yield str(name), path.read_bytes()
    ours = metadata.distribution(OURS)
    for each in _OF_OUR_NAME:
        yield f"{OURS.replace('-', '_')}-{ours.version}.dist-info/{each}", (ours.read_text(each) or "").encode()


def _needed(name: str) -> set[str]:
    """Return a package and all that it needs, as its own metadata says; extras are left out."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        each = ahead.pop()
        if each in found:
            continue
        found.add(each)
        requirements = metadata.requires(each) or ()
        ahead += [match[0] for line in requirements if "extra ==" not in line and (match := _NAME.match(line))]
    return found


def _files_of(name: str) -> Mapping[str, bytes]:
    there = metadata.distribution(name).files
    if there is None:
        raise UsageError(f"{name} was not installed by pip: which files it has is not known", hint=_WAY_OUT)
    kept = [path for path in there if _is_kept(path)]
    _check(name, [str(path) for path in kept])
    return {str(path): Path(path.locate()).read_bytes() for path in kept}


def _is_kept(path: PurePosixPath) -> bool:
    return not path.is_absolute() and not {"..", "__pycache__"} & set(path.parts) and path.name not in _LEFT_OUT


def _check(name: str, files: list[str]) -> None:
    """Raise UsageError for a package that is made for one kind of machine."""
    compiled = next((file for file in files if file.endswith(_COMPILED)), None)
    if compiled:
        raise UsageError(f"{name} is compiled for this machine ({compiled})", hint=f"{_WAY_OUT}: those for Linux")
