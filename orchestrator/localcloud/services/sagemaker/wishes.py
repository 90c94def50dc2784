"""The instances that a training wishes for: of one type, or of the first of several that there are.

ResourceConfig's InstancePreferences is a list of types, in order. Exactly one is selected, and billed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orchestrator.localcloud.http.answers import AwsError

_EXCLUDED = ("InstanceType", "InstanceGroups", "InstancePlacementConfig")


@dataclass(frozen=True)
class Wish:
    """A number of instances of one type."""

    instance_type: str
    instances: int


def wishes_of(config: dict[str, Any]) -> list[Wish]:
    """Return what a ResourceConfig wishes for, in order."""
    usual = config.get("InstanceCount")
    preferences = config.get("InstancePreferences", [config])
    return [Wish(str(each["InstanceType"]), int(each.get("InstanceCount", usual))) for each in preferences]


def check_preferences(config: dict[str, Any], *, spot: bool) -> None:
    """Raise SageMaker's refusal of instance preferences, as its API reference has it."""
    excluded = [name for name in _EXCLUDED if name in config]
    if spot:
        excluded.append("EnableManagedSpotTraining")
    if excluded:
        raise _refusal(f"InstancePreferences cannot be given together with {', '.join(excluded)}")
    preferences = config["InstancePreferences"]
    if "TrainingPlanArn" in config and any("TrainingPlanArns" in each for each in preferences):
        raise _refusal("TrainingPlanArns of a preference cannot be given together with TrainingPlanArn")
    types = [each["InstanceType"] for each in preferences]
    if len(set(types)) < len(types):
        raise _refusal("An instance type can appear only once in InstancePreferences")
    counts = sum("InstanceCount" in each for each in preferences)
    if counts not in (0, len(preferences)) or bool(counts) == ("InstanceCount" in config):
        raise _refusal("Set InstanceCount on every preference, or on ResourceConfig and on none of them")


def _refusal(message: str) -> AwsError:
    return AwsError("ValidationException", f"{message}.")
