"""Writes the names of what was made into sweep.toml. What stands there already is left as it is, and told."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator import files
from orchestrator.errors import SettingsError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_TABLE = re.compile(r"^\s*\[", re.MULTILINE)
_INFRA = re.compile(r"^\s*\[\s*infra\s*\]\s*(#.*)?$", re.MULTILINE)
_REGIONS = re.compile(r"^(\s*regions\s*=\s*)\[[^\]\n#]*\](.*)$", re.MULTILINE)
_IMAGE = "launcher_image"
_ITS_LINE = re.compile(rf"""^(\s*{_IMAGE}\s*=\s*)("[^"\n]*"|'[^'\n]*')(.*)$""", re.MULTILINE)
_HEADING = "# Written by `sweep infra deploy`:"


@dataclass(frozen=True)
class Filled:
    """What became of a settings file."""

    file: Path
    written: Mapping[str, Any]
    """The settings that were written, with their values."""
    kept: Mapping[str, Any]
    """Settings that say something else than what was made, and were left as they are."""


def fill(file: Path, values: Mapping[str, str], regions: Sequence[str] | None, image: str = "") -> Filled:
    """Write settings into a file, and the Regions that are trained in into its table [infra].

    Comments and everything else stay. Regions that were others before are replaced, and so is the launcher's image.
    What is not given is left alone. Raise SettingsError for a file that cannot be read.
    """
    text = _read(file)
    before = _parsed(text, file)
    wanted = {**values, **({_IMAGE: image} if image else {})}
    new = {name: value for name, value in wanted.items() if name not in before}
    replaced = {_IMAGE: image} if image and before.get(_IMAGE, image) != image else {}
    kept = {name: before[name] for name, value in values.items() if name in before and before[name] != value}
    written: dict[str, Any] = {**new, **replaced}
    after = _with_settings(_with_image(text, image) if replaced else text, new)
    expected = {**before, **new, **replaced}
    if regions is not None:
        expected["infra"] = {**before.get("infra", {}), "regions": list(regions)}
        if before.get("infra", {}).get("regions") != list(regions):
            after = _with_regions(after, regions)
            written["infra.regions"] = list(regions)
    if not _says(after, expected):
        lines = "\n".join(f"{name} = {_toml(value)}" for name, value in written.items() if name in wanted)
        raise SettingsError(
            "cannot be filled in: it is written in a way that is not understood",
            where=str(file),
            hint=f"write `regions = {_toml(list(regions or ()))}` below [infra] yourself, and: {lines}",
        )
    if after != text:
        files.write(file, after)
    return Filled(file, written, kept)


def control_region(file: Path) -> str:
    """Return the control Region that a settings file names; empty if it names none."""
    return str(_parsed(_read(file), file).get("region", ""))


def _read(file: Path) -> str:
    try:
        return files.read(file).decode() if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", where=str(file)) from error


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"not TOML: {error}", where=str(file)) from error


def _says(text: str, expected: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        return False


def _with_settings(text: str, values: Mapping[str, str]) -> str:
    """Return a file with settings added, before its first table: what comes after would belong to that."""
    if not values:
        return text
    lines = [_HEADING, *(f"{name} = {_toml(value)}" for name, value in values.items())]
    table = _TABLE.search(text)
    at = len(text) if table is None else _above(text, table.start())
    head, tail = text[:at], text[at:]
    head = head.rstrip("\n") + "\n\n" if head.strip() else ""
    return head + "\n".join(lines) + "\n" + (f"\n{tail}" if tail else "")


def _with_image(text: str, image: str) -> str:
    """Return a file that names another image of the launcher."""
    return _ITS_LINE.sub(lambda found: f"{found[1]}{_toml(image)}{found[3]}", text, count=1)


def _above(text: str, at: int) -> int:
    """Return where the comments begin that stand right above a line: they belong to it."""
    lines = text[:at].splitlines(keepends=True)
    while lines and lines[-1].lstrip().startswith("#"):
        at -= len(lines.pop())
    return at


def _with_regions(text: str, regions: Sequence[str]) -> str:
    line = f"regions = {_toml(list(regions))}"
    table = _INFRA.search(text)
    if table is None:
        return f"{text.rstrip(chr(10))}\n\n[infra]\n{line}\n".lstrip("\n")
    following = _TABLE.search(text, table.end())
    end = following.start() if following else len(text)
    part = text[table.end() : end]
    changed, count = _REGIONS.subn(lambda found: f"{found[1]}{_toml(list(regions))}{found[2]}", part, count=1)
    return text[: table.end()] + (changed if count else f"\n{line}{part}") + text[end:]


def _toml(value: object) -> str:
    """Return a text or a list of texts as TOML writes it, which is how JSON does."""
    return json.dumps(value, ensure_ascii=False)
