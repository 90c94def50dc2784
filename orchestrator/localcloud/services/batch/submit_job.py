"""SubmitJob: what Batch refuses at once, what it accepts and then fails, and the job that comes of a request."""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.batch.jobs import Job, JobSpec
from orchestrator.localcloud.services.batch.resources import refusal
from orchestrator.localcloud.services.batch.retry import RetryStrategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.batch.consumables import Consumables
    from orchestrator.localcloud.services.batch.resources import Definition, Resources

LARGEST_ARRAY = 10_000
LONGEST_OVERRIDES = 8192
OVERRIDES_TOO_LONG = f"Container Overrides length must be at most {LONGEST_OVERRIDES}"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_DESCRIBED_AS_GIVEN = ("dependsOn", "tags", "propagateTags", "shareIdentifier")
"""Parts of a request that DescribeJobs gives back unchanged."""


def make_spec(body: dict[str, Any], resources: Resources, consumables: Consumables) -> JobSpec:
    """Return the job that a request asks for, or raise AWS's refusal of it."""
    _check(body)
    definition = resources.definition(body["jobDefinition"])
    queue = resources.queue(body["jobQueue"])
    if not queue.enabled:
        raise refusal(f"Job Queue {queue.arn} is not ENABLED")
    if "containerProperties" not in definition.body:
        message = f"the local cloud runs no multi-node jobs, such as those of {definition.name}"
        raise AwsError("UnsupportedOperation", message)
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
        command=tuple(_fill_in(container["command"], parameters)),
        environment={each["name"]: each["value"] for each in container["environment"]},
        vcpus=_vcpus(container),
        retry=RetryStrategy.of(retry),
        timeout_s=timeout.get("attemptDurationSeconds"),
        size=body.get("arrayProperties", {}).get("size"),
        needs=consumables.needs(needs),
        body=_described(
            body,
            definition,
            parameters,
            {"retryStrategy": retry, "timeout": timeout, "consumableResourceProperties": needs},
        ),
    )


def overrides_are_too_long(body: dict[str, Any]) -> bool:
    """Say whether a request's overrides exceed the limit of ECS. SubmitJob accepts such a job, and the job fails."""
    return len(json.dumps(body.get("containerOverrides", {}), separators=(",", ":"))) > LONGEST_OVERRIDES


def make_job(spec: JobSpec, arn_prefix: str, now: int) -> Job:
    """Return an ordinary job, or an array with its children. The job's ARN is the prefix and the job's id."""
    name = str(uuid.uuid4())
    job = Job(name, arn_prefix + name, spec, now)
    if spec.size:
        job.children = [Job(f"{name}:{n}", f"{arn_prefix}{name}:{n}", spec, now, job, n) for n in range(spec.size)]
        job.summary = Counter(SUBMITTED=spec.size)
        job.summary_at = now
        job.status = "PENDING"
    return job


def _check(body: dict[str, Any]) -> None:
    """Raise Batch's refusal of a request that exceeds a limit."""
    kib = len(json.dumps(body, separators=(",", ":")).encode()) / 1024
    if kib > 30:
        raise _refusal_of_request(f"Job size must be less than 30 KiB, got {kib:.0f} KiB")
    if not _NAME.fullmatch(body["jobName"]):
        raise _refusal_of_request("Job name should match valid pattern")
    size = body.get("arrayProperties", {}).get("size")
    if size is not None and not 2 <= size <= LARGEST_ARRAY:
        raise _refusal_of_request(f"Array size must be between 2 and {LARGEST_ARRAY}, got {size}")
    seconds = body.get("timeout", {}).get("attemptDurationSeconds")
    if seconds is not None and seconds < 60:
        raise _refusal_of_request("Timeout attemptDurationSeconds must be greater than or equal to 60.")
    attempts = body.get("retryStrategy", {}).get("attempts")
    if attempts is not None and not 1 <= attempts <= 10:
        raise _refusal_of_request("RetryStrategy attempts must be between 1 and 10.")
    if len(body.get("retryStrategy", {}).get("evaluateOnExit", ())) > 5:
        raise _refusal_of_request("EvaluateOnExit must have at most 5 entries.")
    if len(body.get("dependsOn", ())) > 20:
        raise _refusal_of_request("Job dependencies must be at most 20.")


def _refusal_of_request(text: str) -> Exception:
    return refusal(f"Error executing request, Exception : {text}, RequestId: {uuid.uuid4()}")


def _container(defined: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """Return the definition's container with the overrides of a request."""
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


def _fill_in(command: list[str], parameters: Mapping[str, str]) -> list[str]:
    """Put a parameter's value in the place of each word `Ref::name`; leave a name that is no parameter as it is."""
    return [parameters.get(word[5:], word) if word.startswith("Ref::") else word for word in command]


def _vcpus(container: dict[str, Any]) -> float:
    required = {each["type"]: each["value"] for each in container["resourceRequirements"]}
    return float(required.get("VCPU", container.get("vcpus", 1)))


def _described(
    body: dict[str, Any], definition: Definition, parameters: dict[str, str], merged: dict[str, Any]
) -> dict[str, Any]:
    """Return what DescribeJobs shows of a request. `merged` has what the request and the definition both may give."""
    shown: dict[str, Any] = {"parameters": parameters, "dependsOn": [], "tags": {}}
    if capabilities := definition.body.get("platformCapabilities"):
        shown["platformCapabilities"] = capabilities
    shown.update({key: value for key, value in merged.items() if value})
    shown.update({key: body[key] for key in _DESCRIBED_AS_GIVEN if key in body})
    return shown
