"""What two statements of IAM policies have in common is said once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.platforms.account.statements import Statement


def listed(value: Any) -> list[str]:
    """Return the values that a member of a statement has: it may be one, or several."""
    return [value] if isinstance(value, str) else list(value)


def say_together(other: Statement, statement: Statement) -> bool:
    """Let another platform's statement say this one too, if it is alike; return whether it does.

    IAM takes policies of a certain length only, and platforms need much of the same.
    """
    for alike, differing in (("Action", "Resource"), ("Resource", "Action")):
        same = listed(other[alike]) == listed(statement[alike])
        if same and other.get("Condition") == statement.get("Condition"):
            other[differing] = list(dict.fromkeys([*listed(other[differing]), *listed(statement[differing])]))
            return True
    return False
