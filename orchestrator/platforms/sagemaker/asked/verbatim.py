"""`platforms.sagemaker.request`: what is merged into CreateTrainingJob as it is, after a look at AWS's own model of it.

What `sweep` says itself, and what would change slots, money or names, is refused with what to write instead.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from orchestrator.errors import did_you_mean
from orchestrator.platforms.base import Complaint
from orchestrator.spec.model import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from botocore.model import Shape

    Path = tuple[str | int, ...]

AT = ("platforms", "sagemaker", "request")
_OWN_INSTANCE = "a rule with an instance of its own costs what no budget counts"
_REFUSED = {
    "TrainingJobName": "trainings have names by which each is started once only",
    "RoleArn": "write `role` beside `request`",
    "Tags": "write `tags` at the top of the file",
    "HyperParameters": "write train.hyperparameters, or space",
    "Environment": "write train.environment",
    "InputDataConfig": "write train.channels, and `channels` beside `request`",
    "OutputDataConfig": "write `output`, `output_kms_key` or `compress_output` beside `request`",
    "CheckpointConfig": "write train.checkpoints, and `checkpoints` beside `request`",
    "VpcConfig": "write `vpc` beside `request`",
    "EnableNetworkIsolation": "write `network_isolation` beside `request`",
    "EnableInterContainerTrafficEncryption": "write `encrypt_between_instances` beside `request`",
    "EnableManagedSpotTraining": "write where.purchases: the planner chooses between spot and on demand",
    "StoppingCondition": "write timeout and patience: what a task may cost rests on them",
    "RetryStrategy": "write retries: what SageMaker starts again by itself, no envelope pays for",
    "ServerlessJobConfig": "it buys something else than the plan does",
    "ResourceConfig.InstanceType": "write where.instance_types",
    "ResourceConfig.InstanceCount": "write train.instances",
    "ResourceConfig.InstanceGroups": "groups of other types are slots that the plan does not count",
    "ResourceConfig.InstancePreferences": "write `instance_preferences: true` beside `request`",
    "ResourceConfig.InstancePlacementConfig": "the plan does not count the slots of an UltraServer",
    "ResourceConfig.KeepAlivePeriodInSeconds": "a warm pool is billed after its training, beyond any envelope",
    "ResourceConfig.TrainingPlanArn": "load the plan with the catalog's commitments, and buy `committed`",
    "ResourceConfig.VolumeKmsKeyId": "write `volume_kms_key` beside `request`",
    "ResourceConfig.VolumeSizeInGB": "write train.volume_gb",
    "AlgorithmSpecification.AlgorithmName": "write train.image",
    "AlgorithmSpecification.TrainingImage": "write train.image",
    "AlgorithmSpecification.TrainingInputMode": "write `channels` beside `request`: input_mode is by channel",
    "AlgorithmSpecification.MetricDefinitions": "write train.metrics",
    "AlgorithmSpecification.ContainerEntrypoint": "what starts a training is said under train",
    "AlgorithmSpecification.ContainerArguments": "what starts a training is said under train",
    "DebugRuleConfigurations.InstanceType": _OWN_INSTANCE,
    "ProfilerRuleConfigurations.InstanceType": _OWN_INSTANCE,
}
"""Members that cannot stand there, with the reason, or with what to write instead."""
_BEGUN: tuple[Path, ...] = ((), ("AlgorithmSpecification",), ("ResourceConfig",))
"""Parts of the request that `sweep` makes: they have what AWS requires."""
_FILLED_IN = ("region", "account")
_IN_BRACES = re.compile(r"\{([a-z_]+)\}")
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
}
_WORDS = {"string": "text", "boolean": "true or false", "structure": "a mapping", "map": "a mapping", "list": "a list"}


def check_request(request: Mapping[str, Any]) -> Iterator[Complaint]:
    """Yield a complaint for each thing that AWS would not take, or that a sweep says elsewhere."""
    if not request:
        return
    import botocore.session

    service = botocore.session.get_session().get_service_model("sagemaker")
    yield from _check_members(service.operation_model("CreateTrainingJob").input_shape, dict(request), ())


def fill_in(value: Any, region: str, account: str) -> Any:
    """Return the request with its {region} and {account} filled in, in every text."""
    if isinstance(value, dict):
        return {name: fill_in(item, region, account) for name, item in value.items()}
    if isinstance(value, list):
        return [fill_in(item, region, account) for item in value]
    return value.replace("{region}", region).replace("{account}", account) if isinstance(value, str) else value


def merge(request: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with what is asked for: mappings are merged, anything else is replaced."""
    merged = dict(request)
    for name, value in asked.items():
        both = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = merge(merged[name], value) if both else value
    return merged


def _check_members(shape: Any, value: dict[str, Any], path: Path) -> Iterator[Complaint]:
    for name, item in value.items():
        at = (*path, name)
        reason = _REFUSED.get(".".join(str(step) for step in at if isinstance(step, str)))
        if reason:
            yield Complaint(f"{name} cannot stand under request", reason, (*AT, *at))
        elif name not in shape.members:
            yield Complaint(f"unknown key {name!r}", did_you_mean(str(name), list(shape.members)), (*AT, *at))
        else:
            yield from _check(shape.members[name], item, at)
    if path in _BEGUN:
        return
    for name in shape.required_members:
        if name not in value:
            yield Complaint(f"{name} is missing", "CreateTrainingJob wants it there", (*AT, *path))


def _check(shape: Shape, value: Any, at: Path) -> Iterator[Complaint]:
    kind, types = shape.type_name, _TYPES.get(shape.type_name)
    if (types and not isinstance(value, types)) or (isinstance(value, bool) and kind != "boolean"):
        yield Complaint(f"expected {_WORDS.get(kind, 'a number')}, got {shown(value)}", "", (*AT, *at))
        return
    problem = _problem(shape, value)
    if problem:
        yield Complaint(f"{at[-1]}: {problem}", "so says AWS's model of CreateTrainingJob", (*AT, *at))
    if kind == "structure":
        yield from _check_members(shape, value, at)
    elif kind == "list":
        for index, item in enumerate(value):
            yield from _check(shape.member, item, (*at, index))  # type: ignore[attr-defined]
    elif kind == "map":
        for name, item in value.items():
            yield from _check(shape.key, name, (*at, name))  # type: ignore[attr-defined]
            yield from _check(shape.value, item, (*at, name))  # type: ignore[attr-defined]


def _problem(shape: Shape, value: Any) -> str:
    """Return which rule a value breaks; nothing if none."""
    if isinstance(value, str):
        for unknown in set(_IN_BRACES.findall(value)) - set(_FILLED_IN):
            if near := get_close_matches(unknown, _FILLED_IN, n=1):  # other braces may mean something to others
                return f"{{{unknown}}} has no meaning there; did you mean {near[0]!r}?"
        value = fill_in(value, "us-east-1", "123456789012")
    if isinstance(value, str) and shape.type_name == "string":
        choices = getattr(shape, "enum", [])
        if choices and value not in choices:
            return f"{shown(value)} is none of its words; {did_you_mean(value, choices)}"
        pattern = _compiled(shape.metadata.get("pattern", ""))
        if pattern is not None and not pattern.fullmatch(value):
            return f"{shown(value)} does not match {pattern.pattern}"
    size = len(value) if isinstance(value, str | list | dict) else value
    if "max" in shape.metadata and size > shape.metadata["max"]:
        return f"{size} is more than {shape.metadata['max']}"
    if "min" in shape.metadata and size < shape.metadata["min"]:
        return f"{size} is less than {shape.metadata['min']}"
    return ""


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return a pattern of AWS's, or None for one in Java's own words, which Python does not know."""
    try:
        return re.compile(pattern) if pattern else None
    except re.error:
        return None
