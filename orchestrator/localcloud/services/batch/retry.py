"""The choice whether a failed attempt is followed by another: retryStrategy and its evaluateOnExit rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_CONDITIONS = {"onStatusReason": "status_reason", "onReason": "reason", "onExitCode": "exit_code"}
"""The conditions that a rule may have, and the field of an Exit that each looks at."""


@dataclass(frozen=True)
class Exit:
    """The end of an attempt, with all that rules may look at."""

    exit_code: int | None = None
    """None when the attempt has no exit code: its host was taken away, or its container did not start."""
    reason: str = ""
    status_reason: str = ""


@dataclass(frozen=True)
class RetryStrategy:
    """A job's retryStrategy: how many attempts it may have, and the rules that end it sooner."""

    attempts: int = 1
    rules: tuple[dict[str, str], ...] = ()

    @classmethod
    def of(cls, body: dict[str, Any]) -> RetryStrategy:
        """Read a strategy from the retryStrategy of a request."""
        return cls(body.get("attempts", 1), tuple(body.get("evaluateOnExit", ())))

    def allows_another(self, exit_: Exit, used: int) -> bool:
        """Say whether another attempt follows one that failed; `used` attempts have been made.

        The first rule that matches decides. When none does, Batch retries.
        """
        if used >= self.attempts:
            return False
        action = next((rule["action"] for rule in self.rules if _applies(rule, exit_)), "RETRY")
        return action.upper() == "RETRY"


def _applies(rule: dict[str, str], exit_: Exit) -> bool:
    """Say whether all the conditions that a rule names match."""
    named = {condition: rule[condition] for condition in _CONDITIONS if rule.get(condition)}
    return all(matches(pattern, _text(exit_, condition)) for condition, pattern in named.items())


def _text(exit_: Exit, condition: str) -> str:
    value = getattr(exit_, _CONDITIONS[condition])
    return "" if value is None else str(value)


def matches(pattern: str, text: str) -> bool:
    """Compare as Batch does: an asterisk may stand at the pattern's end and nowhere else, and case does not count."""
    pattern, text = pattern.lower(), text.lower()
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
