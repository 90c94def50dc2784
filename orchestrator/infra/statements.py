"""Statements of IAM policies, as platforms and we write them: what two of them have in common is said once."""

from __future__ import annotations

from typing import Any

Statement = dict[str, Any]


def allow(sid: str, actions: list[str], resource: str | list[str], **more: Any) -> Statement:
    """Return a statement that allows these actions on this."""
    return {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource, **more}


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
