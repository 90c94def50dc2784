"""Reasons of failures, as they are told in one line."""

from __future__ import annotations

import re

from orchestrator.errors import QuotaExceeded, SweepError

LONGEST = 420
"""Characters of a reason that are kept: the cause stands at its beginning, or at its end after a traceback."""
QUOTA_USED_UP = "waits for quota: "
"""Begins the reason of a task whose start is refused for now because a quota is used up."""
_COMMAND = re.compile(r'\bCommand ".*', re.DOTALL)
"""The command line that toolkits add to a reason: each task has options of its own."""
_WORD = re.compile(r"[-+.\w]+")


def why_put_off(error: SweepError) -> str:
    """Return the reason of a task whose start is refused for now by this error."""
    return f"{QUOTA_USED_UP if isinstance(error, QuotaExceeded) else ''}{error.message}"


def without_command(reason: str) -> str:
    """Return a reason without the command line."""
    return _COMMAND.sub("", reason)


def shortened(reason: str) -> str:
    """Return a reason on one line, without the command line. What is left out of a long one stands in its middle."""
    text = " ".join(without_command(reason).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 3]} … {text[-LONGEST * 2 // 3 :]}"


def alike(one: str, other: str) -> bool:
    """Return whether two reasons say the same, but for numbers, names with a digit, and the command line."""
    return without_numbers(one) == without_numbers(other)


def without_numbers(reason: str) -> str:
    """Return what a reason has in common with all that are alike."""
    return _WORD.sub(lambda word: "#" if any(map(str.isdigit, word[0])) else word[0], without_command(reason))
