"""Plays back what was asked of IAM against policies from which an action has been taken away."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from orchestrator.localcloud.iam import policy
from orchestrator.localcloud.iam.evaluation import Asked, Policies, evaluate

Document = dict[str, Any]


def listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def actions(document: Document) -> set[str]:
    return {action for statement in document["Statement"] for action in listed(statement["Action"])}


def without(document: Document, action: str) -> Document:
    """The policy that grants everything that this one does but for one action."""
    left = deepcopy(document)
    for statement in left["Statement"]:
        statement["Action"] = [each for each in listed(statement["Action"]) if each != action]
    left["Statement"] = [each for each in left["Statement"] if each["Action"]]
    return left


def refused(document: Document, asked: list[dict[str, Any]]) -> list[str]:
    """What a policy does not allow of all that was asked for."""
    read = Policies((policy.read("replayed", json.dumps(document)),))
    found = []
    for each in asked:
        context = {key: tuple(values) for key, values in each["context"].items()}
        if not evaluate(read, Asked(each["action"], each["resource"], context)).allowed:
            found.append(f"{each['action']} on {each['resource']}")
    return found
