"""The managed policies of people: what a role of theirs needs, in as many policies as IAM takes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.infra.names import ACCOUNT, PARTITION, partition_of
from orchestrator.infra.policies import policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.infra.names import Names

LONGEST = 6_144
"""Characters of a managed policy that IAM takes, without white space."""


def managed_policies(role: str, names: Names) -> dict[str, dict[str, Any]]:
    """Return the managed policies that have together what a role of people needs, by their names: mostly one."""
    parts = enumerate(_in_parts(policy(role, names), names), start=1)
    return {f"sweep-{role}{'' if part == 1 else f'-{part}'}-{names.region}": document for part, document in parts}


def _in_parts(document: Mapping[str, Any], names: Names) -> list[dict[str, Any]]:
    """Return a policy as several that are no longer than IAM takes: each has some of its statements, in their order.

    A statement that is too long by itself stays whole, and IAM refuses it.
    """
    parts: list[list[Any]] = [[]]
    for statement in document["Statement"]:
        if parts[-1] and _length({**document, "Statement": [*parts[-1], statement]}, names) > LONGEST:
            parts.append([])
        parts[-1].append(statement)
    return [{**document, "Statement": statements} for statements in parts]


def _length(document: Mapping[str, Any], names: Names) -> int:
    """Return the characters of a policy as IAM counts them, once CloudFormation has filled in what it knows."""
    text = "".join(json.dumps(document, separators=(",", ":")).split())
    return len(text.replace(ACCOUNT, "0" * 12).replace(PARTITION, partition_of(names.region)))
