"""Patterns of policies: `*` is anything, `?` is one character, `${key}` is what is known of the request.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html and
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Context = "Mapping[str, tuple[str, ...]]"
"""What is known of a request: the values of each key, whose name has small letters only."""
_PARTS = 6
"""The parts of an ARN, with colons between; the last may have colons of its own."""
_HOLE = re.compile(r"\$\{([^}]*)\}")
_LITERAL = {"*": "\ue000", "?": "\ue001", ":": "\ue002", "$": "\ue003"}
"""Characters that stand for themselves, because they came from a variable."""
_MEANT = {mark: character for character, mark in _LITERAL.items()}


def fill_in(pattern: str, context: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return a pattern in which variables have their values; None if the request has no value for one."""
    missing = False

    def value(hole: re.Match[str]) -> str:
        nonlocal missing
        name, _, default = hole[1].partition(",")
        if name in _LITERAL:
            return _LITERAL[name]
        known = context.get(name.strip().lower(), ())
        text = known[0] if len(known) == 1 else default.strip().strip("'")
        missing = missing or (len(known) != 1 and not default)
        return "".join(_LITERAL.get(character, character) for character in text)

    filled = _HOLE.sub(value, pattern)
    return None if missing else filled


def means(pattern: str, text: str) -> bool:
    """Return whether a pattern means a text, in which capitals count."""
    return _compiled(pattern).fullmatch(text) is not None


def means_action(pattern: str, action: str) -> bool:
    """Return whether a pattern means an action, in which capitals do not count."""
    return means(pattern.lower(), action.lower())


def means_arn(pattern: str, arn: str) -> bool:
    """Return whether a pattern means an ARN: part by part, so that no star reaches over a colon but in the last.

    Parts that a pattern leaves out may be anything. What takes no resource, "*", is meant by "*" alone.
    """
    if pattern == "*" or arn == "*" or not pattern.startswith("arn:"):
        return means(pattern, arn)
    parts = pattern.split(":", _PARTS - 1)
    parts += ["*"] * (_PARTS - len(parts))
    there = arn.split(":", _PARTS - 1)
    return len(there) == _PARTS and all(map(means, parts, there))


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    wild = {"*": ".*", "?": "."}
    pieces = (wild.get(each) or re.escape(_MEANT.get(each, each)) for each in pattern)
    return re.compile("".join(pieces), re.DOTALL)
