"""Variables of a job definition, read and checked: what is wrong is one line that names the variable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


def required(environ: Mapping[str, str], name: str) -> str:
    """Return a variable's value. Raise UsageError when it is not set."""
    value = environ.get(name, "").strip()
    if not value:
        raise UsageError("not set", where=name, hint="the job definition's environment says it")
    return value


def number(environ: Mapping[str, str], name: str, usual: int, bounds: tuple[int, int]) -> int:
    """Return a variable as a whole number, or the usual one. Raise UsageError when it is none, or out of bounds."""
    text = environ.get(name, "").strip() or str(usual)
    least, most = bounds
    if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
        raise UsageError(f"not a whole number from {least} to {most}: {text[:40]!r}", where=name)
    return int(text)


def as_object(environ: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return the JSON object in a variable; an empty one if it is not set. Raise UsageError when it is no object."""
    text = environ.get(name, "").strip() or "{}"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no JSON: {error}", where=name, hint='{"learning_rate": 0.1}') from error
    if not isinstance(value, dict):
        raise UsageError(f"no JSON object: {text[:40]!r}", where=name, hint='{"learning_rate": 0.1}')
    return value
