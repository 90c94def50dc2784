"""What support gets to see: what was found, settings, versions, the sweep. No key and no password goes along."""

from __future__ import annotations

import io
import json
import platform
import re
import zipfile
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from orchestrator.secrecy import looks_like_aws_secret, looks_like_key, names_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.platforms.account.finding import Finding

HIDDEN = "(left out: it may be a secret)"
_PACKAGES = ("sweep-orchestrator", "boto3", "botocore", "sqlalchemy", "pydantic", "highspy")
_SETTING = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*[:=]\s*(\S.*)")
_PASSWORD = re.compile(r"(?P<head>[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/@:]*:)[^\s@]+@")
_WORD = re.compile(r"[\w/+=.-]{20,}")


def make_bundle(findings: Sequence[Finding], settings: Mapping[str, Any], texts: Mapping[str, str]) -> bytes:
    """Return a zip file with what was found, the settings, the versions of what is installed, and these texts."""
    versions = {"python": platform.python_version(), "system": platform.platform()}
    versions |= {name: version(name) for name in _PACKAGES}
    files = {
        "findings.json": json.dumps([asdict(each) for each in findings], indent=2),
        "settings.json": json.dumps(settings, indent=2, default=str),
        "versions.json": json.dumps(versions, indent=2),
        **texts,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, strip(text))
    return buffer.getvalue()


def strip(text: str) -> str:
    """Return a text without what may be a secret: values of names that usually hold one, passwords in URLs, keys."""
    return "\n".join(_stripped(text))


def _stripped(text: str) -> Iterator[str]:
    in_key = False
    for line in text.splitlines():
        if "PRIVATE KEY" in line:
            in_key = "BEGIN" in line
            yield HIDDEN
            continue
        if in_key:
            continue
        yield _hide(line)


def _hide(line: str) -> str:
    found = _SETTING.match(line)
    if found and names_secret(found[1].replace("-", "_")):
        return f"{line[: found.start(2)]}{HIDDEN}"
    line = _PASSWORD.sub(rf"\g<head>{HIDDEN}@", line)
    if looks_like_key(line):
        return HIDDEN
    return _WORD.sub(lambda word: HIDDEN if looks_like_aws_secret(word[0]) else word[0], line)
