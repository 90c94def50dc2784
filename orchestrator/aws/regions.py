"""Which names can Regions have? Those that are not known yet are known by their pattern."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path


def could_be_region(name: str) -> bool:
    """Return whether a Region of some partition of AWS could have this name, by the patterns that botocore has."""
    return any(pattern.fullmatch(name) for pattern in _patterns())


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    # Every command reads settings, and most need nothing else of botocore, which is slow to load: it is only found.
    found = find_spec("botocore")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("botocore")
    text = (Path(found.origin).parent / "data" / "partitions.json").read_text(encoding="utf-8")
    return tuple(re.compile(partition["regionRegex"], re.ASCII) for partition in json.loads(text)["partitions"])
