"""What the end of a pod means to its Job: kubernetes.io/docs/tasks/job/pod-failure-policy, and the success policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.pods.pods import has_condition

if TYPE_CHECKING:
    from collections.abc import Iterable

Body = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What a rule makes of a pod that has failed."""

    action: str
    """FailJob, FailIndex, Ignore or Count."""
    message: str = ""


def judge(job: Body, pod: Body) -> Verdict:
    """Return what the first rule that fits makes of a failed pod; without one it is counted."""
    rules = (job["spec"].get("podFailurePolicy") or {}).get("rules") or ()
    meta = pod["metadata"]
    for number, rule in enumerate(rules):
        if why := _fits(rule, pod):
            name = f"{meta['namespace']}/{meta['name']}"
            said = why.format(pod=name)
            return Verdict(rule["action"], f"{said} matching {rule['action']} rule at index {number}")
    return Verdict("Count")


def _fits(rule: Body, pod: Body) -> str:
    for pattern in rule.get("onPodConditions") or ():
        if has_condition(pod, pattern["type"], pattern.get("status", "True")):
            return f"Pod {{pod}} has condition {pattern['type']}"
    codes = rule.get("onExitCodes")
    if not codes:
        return ""
    for each in pod["status"].get("containerStatuses", ()):
        code = each["state"].get("terminated", {}).get("exitCode", 0)
        wanted = codes.get("containerName") in (None, each["name"])
        listed = code in codes["values"]
        if wanted and code and listed == (codes["operator"] == "In"):
            return f"Container {each['name']} for pod {{pod}} failed with exit code {code}"
    return ""


def has_succeeded(job: Body, succeeded: set[int]) -> bool:
    """Say whether a Job's success policy is content with these indexes."""
    for rule in (job["spec"].get("successPolicy") or {}).get("rules") or ():
        counted = succeeded
        if "succeededIndexes" in rule:
            counted = succeeded & read_indexes(rule["succeededIndexes"])
            if "succeededCount" not in rule and counted != read_indexes(rule["succeededIndexes"]):
                continue
        if len(counted) >= rule.get("succeededCount", 1):
            return True
    return False


def read_indexes(text: str) -> set[int]:
    """Return the numbers of a list such as 0,2-4."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def write_indexes(numbers: Iterable[int]) -> str:
    """Return numbers as a list such as 0,2-4."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, dict.fromkeys(part))) for part in parts)
