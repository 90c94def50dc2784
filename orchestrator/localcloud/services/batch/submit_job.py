"""SubmitJob: what Batch refuses at once, what it accepts and then fails, and the job that comes of it."""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch.jobs import Job, JobSpec
from orchestrator.localcloud.services.batch.resources import refuse
from orchestrator.localcloud.services.batch.retry import RetryStrategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.batch.consumables import Consumables
    from orchestrator.localcloud.services.batch.resources import Definition, Resources

LARGEST_ARRAY = 10_000
LONGEST_OVERRIDES = 8192
OVERRIDES_TOO_LONG = f"Container Overrides length must be at most {LONGEST_OVERRIDES}"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_GIVEN_BACK = ("dependsOn", "tags", "propagateTags", "shareIdentifier")


def specify(body: dict[str, Any], resources: Resources, consumables: Consumables) -> JobSpec:
    """The job that a request asks for, or AWS's refusal of it."""
    _check(body)
    definition = resources.definition(body["jobDefinition"])
    queue = resources.queue(body["jobQueue"])
    if not queue.enabled:
        raise refuse(f"Job Queue {queue.arn} is not ENABLED")
    overrides = body.get("containerOverrides", {})
    container = _container(definition.body["containerProperties"], overrides)
    parameters = {**definition.body["parameters"], **body.get("parameters", {})}
    timeout = body.get("timeout") or definition.body.get("timeout") or {}
    retry = body.get("retryStrategy") or definition.body.get("retryStrategy") or {}
    needs = (
        body.get("consumableResourcePropertiesOverride") or definition.body.get("consumableResourceProperties") or {}
    )
    return JobSpec(
        name=body["jobName"],
        queue=queue.arn,
        definition=definition.arn,
        definition_name=definition.name,
        container=container,
        command=tuple(_fill(container["command"], parameters)),
        environment={each["name"]: each["value"] for each in container["environment"]},
        vcpus=_vcpus(container),
        retry=RetryStrategy.of(retry),
        timeout_s=timeout.get("attemptDurationSeconds"),
        size=body.get("arrayProperties", {}).get("size"),
        needs=consumables.needs(needs),
        body=_given_back(
            body,
            definition,
            parameters,
            {"retryStrategy": retry, "timeout": timeout, "consumableResourceProperties": needs},
        ),
    )


def overrides_too_long(body: dict[str, Any]) -> bool:
    """ECS's limit, not Batch's: SubmitJob accepts the job, and the job fails."""
    return len(json.dumps(body.get("containerOverrides", {}), separators=(",", ":"))) > LONGEST_OVERRIDES


def make(spec: JobSpec, arn: str, now: int) -> Job:
    """An ordinary job, or an array with its children. `arn` lacks the job's id."""
    name = str(uuid.uuid4())
    job = Job(name, arn + name, spec, now)
    if spec.size:
        job.children = [Job(f"{name}:{n}", f"{arn}{name}:{n}", spec, now, job, n) for n in range(spec.size)]
        job.summary = Counter(SUBMITTED=spec.size)
        job.summary_at = now
        job.status = "PENDING"
    return job


def _check(body: dict[str, Any]) -> None:
    kib = len(json.dumps(body, separators=(",", ":")).encode()) / 1024
    if kib > 30:
        raise _refusal(f"Job size must be less than 30 KiB, got {kib:.0f} KiB")
    if not _NAME.fullmatch(body["jobName"]):
        raise _refusal("Job name should match valid pattern")
    size = body.get("arrayProperties", {}).get("size")
    if size is not None and not 2 <= size <= LARGEST_ARRAY:
        raise _refusal(f"Array size must be between 2 and {LARGEST_ARRAY}, got {size}")
    seconds = body.get("timeout", {}).get("attemptDurationSeconds")
    if seconds is not None and seconds < 60:
        raise _refusal("Timeout attemptDurationSeconds must be greater than or equal to 60.")
    attempts = body.get("retryStrategy", {}).get("attempts")
    if attempts is not None and not 1 <= attempts <= 10:
        raise _refusal("RetryStrategy attempts must be between 1 and 10.")
    if len(body.get("retryStrategy", {}).get("evaluateOnExit", ())) > 5:
        raise _refusal("EvaluateOnExit must have at most 5 entries.")
    if len(body.get("dependsOn", ())) > 20:
        raise _refusal("Job dependencies must be at most 20.")


def _refusal(text: str) -> Exception:
    return refuse(f"Error executing request, Exception : {text}, RequestId: {uuid.uuid4()}")


def _container(defined: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """The definition's container with the submitted changes."""
    environment = {each["name"]: each["value"] for each in [*defined["environment"], *overrides.get("environment", ())]}
    requirements = {
        each["type"]: each["value"]
        for each in [*defined["resourceRequirements"], *overrides.get("resourceRequirements", ())]
    }
    return {
        **defined,
        "command": overrides.get("command", defined["command"]),
        "environment": [{"name": name, "value": value} for name, value in environment.items()],
        "resourceRequirements": [{"type": type_, "value": value} for type_, value in requirements.items()],
    }


def _fill(command: list[str], parameters: Mapping[str, str]) -> list[str]:
    """`Ref::name` stands for a parameter."""
    return [parameters.get(word[5:], word) if word.startswith("Ref::") else word for word in command]


def _vcpus(container: dict[str, Any]) -> float:
    required = {each["type"]: each["value"] for each in container["resourceRequirements"]}
    return float(required.get("VCPU", container.get("vcpus", 1)))


def _given_back(
    body: dict[str, Any], definition: Definition, parameters: dict[str, str], merged: dict[str, Any]
) -> dict[str, Any]:
    capabilities = definition.body.get("platformCapabilities")
    return {
        "parameters": parameters,
        "dependsOn": [],
        "tags": {},
        **({"platformCapabilities": capabilities} if capabilities else {}),
        **{key: value for key, value in merged.items() if value},
        **{key: body[key] for key in _GIVEN_BACK if key in body},
    }
