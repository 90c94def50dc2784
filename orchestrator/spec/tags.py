"""`tags`: a sweep's own tags, such as a cost centre. Everything that is started for it carries them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from orchestrator.spec.model import shown, wrong

MAX_TAGS = 45
"""AWS takes 50, and `sweep` adds five of its own."""
MAX_KEY, MAX_VALUE = 128, 256
_TEXT = re.compile(r"[\w\s.:/=+@-]*")
_TAKEN = ("aws:", "sweep:")


def _tags(tags: dict[str, str]) -> dict[str, str]:
    if len(tags) > MAX_TAGS:
        raise wrong(f"{len(tags)} tags are too many", hint=f"AWS takes 50, and sweep adds 5: at most {MAX_TAGS}")
    for key, value in tags.items():
        if not key or key.lower().startswith(_TAKEN):
            raise wrong(f"{shown(key)} cannot be a tag's key", hint="those that begin with aws: or sweep: are taken")
        if len(key) > MAX_KEY or len(value) > MAX_VALUE:
            raise wrong("too long a tag", hint=f"a key has {MAX_KEY} characters, a value {MAX_VALUE}", at=(key,))
        if not _TEXT.fullmatch(key) or not _TEXT.fullmatch(value):
            raise wrong("a tag is letters, digits, spaces and _ . : / = + - @", at=(key,))
    return tags


Tags = Annotated[dict[str, str], AfterValidator(_tags)]
