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
_TOLD_BESIDE = re.compile(r" \((?:AlgorithmError|ExecuteUserScriptError): .*", re.DOTALL)
"""What a platform has told of a failure, where the log's own words stand ahead of it."""
_STARTER = re.compile(
    r'^.*?ExecuteUserScriptError:\s*ExitCode -?\d+\s*ErrorMessage "(.+?)"?\s*(?:, exit code: \d+)?$', re.DOTALL
)
"""What starters write around the error of the script that they have started, and platforms around that."""
_RAISED = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Failure): .*", re.DOTALL)
"""An exception's name and text. AWS's toolkit writes the line of code that raised it ahead of them."""


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
    """Return whether two reasons say the same, whichever platforms tell them.

    Numbers, names with a digit, and the command line may differ.
    """
    return without_numbers(one) == without_numbers(other)


def without_numbers(reason: str) -> str:
    """Return what a reason has in common with all that are alike."""
    return _WORD.sub(lambda word: "#" if any(map(str.isdigit, word[0])) else word[0], _own_words(reason))


def _own_words(reason: str) -> str:
    """Return what the training itself has said in a reason, without what its starter and its platform say around it."""
    text = _TOLD_BESIDE.sub("", without_command(reason)).strip()
    told = _STARTER.match(text)
    if told is None:
        return text
    raised = _RAISED.search(told[1])
    return raised[0] if raised else told[1]
