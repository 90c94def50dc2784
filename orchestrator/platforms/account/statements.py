"""Statements of IAM policies, as platforms write them, and whoever grants them."""

from __future__ import annotations

from typing import Any

Statement = dict[str, Any]

OF_A_RUN = {"Null": {"aws:ResourceTag/sweep:run": "false"}}
"""Only what carries the tag of a run, as everything does that a launcher has started."""
TAGGED = {"Null": {"aws:RequestTag/sweep:run": "false"}}
"""Only what is given the tag of a run as it is started."""


def allow(sid: str, actions: list[str], resource: str | list[str], **more: Any) -> Statement:
    """Return a statement that allows these actions on this."""
    return {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource, **more}
