"""Whether a failed attempt is followed by another: retryStrategy and its evaluateOnExit rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_CONDITIONS = {"onStatusReason": "status_reason", "onReason": "reason", "onExitCode": "exit_code"}


@dataclass(frozen=True)
class Exit:
    """How an attempt ended, as rules see it."""

    exit_code: int | None = None
    reason: str = ""
    status_reason: str = ""


@dataclass(frozen=True)
class RetryStrategy:
    attempts: int = 1
    rules: tuple[dict[str, str], ...] = ()

    @classmethod
    def of(cls, body: dict[str, Any]) -> RetryStrategy:
        return cls(body.get("attempts", 1), tuple(body.get("evaluateOnExit", ())))

    def again(self, exit_: Exit, used: int) -> bool:
        """The first rule that matches decides; when none does, Batch retries."""
        if used >= self.attempts:
            return False
        action = next((rule["action"] for rule in self.rules if _applies(rule, exit_)), "RETRY")
        return action.upper() == "RETRY"


def _applies(rule: dict[str, str], exit_: Exit) -> bool:
    """All conditions that a rule names must match."""
    named = {condition: rule[condition] for condition in _CONDITIONS if rule.get(condition)}
    return all(matches(pattern, _text(exit_, condition)) for condition, pattern in named.items())


def _text(exit_: Exit, condition: str) -> str:
    value = getattr(exit_, _CONDITIONS[condition])
    return "" if value is None else str(value)


def matches(pattern: str, text: str) -> bool:
    """Batch's globs: an asterisk may stand at the end, and nowhere else; case does not count."""
    pattern, text = pattern.lower(), text.lower()
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
