"""A pattern of keys, such as `campaigns/{campaign}/{version}/`: which dataset does an object belong to?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Formatter

from orchestrator.errors import UsageError

PLACES = ("campaign", "version")
USUAL = "{campaign}/{version}/"
_NAME = r"[^/@\x00-\x1f\x7f-\x9f]+?"
"""What a campaign or a version may be called in the catalog."""


@dataclass(frozen=True)
class Pattern:
    """What the folders of datasets are called, below the prefix that is looked through."""

    text: str
    folder: re.Pattern[str]
    """Matches the beginning of a key that lies in a dataset's folder."""

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Return the pattern. Raise UsageError unless it names each of its places once, each in a folder of its own."""
        text = text.rstrip("/") + "/"
        try:
            parts = list(Formatter().parse(text))
        except ValueError as error:
            raise _wrong(text, f"cannot be read: {error}") from error
        named = [name for _, name, *_ in parts if name is not None]
        for name in PLACES:
            if named.count(name) != 1:
                raise _wrong(text, f"needs {{{name}}} once")
        if unknown := set(named) - set(PLACES):
            raise _wrong(text, f"may not contain {{{min(unknown)}}}")
        if "}{" in text:
            raise _wrong(text, "has two places beside each other")
        expression = "".join(
            re.escape(literal) + (f"(?P<{name}>{_NAME})" if name is not None else "") for literal, name, *_ in parts
        )
        return cls(text, re.compile(expression))

    def dataset_of(self, key: str) -> tuple[str, str, str] | None:
        """Return the campaign, the version and the folder of the dataset that a key belongs to; None for another."""
        found = self.folder.match(key)
        return (found["campaign"], found["version"], found[0]) if found else None


def _wrong(text: str, problem: str) -> UsageError:
    return UsageError(f"{text!r} {problem}", where="--pattern", hint=f"write it like {USUAL}, or campaigns/{USUAL}")
