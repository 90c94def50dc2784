"""Makes the CreateTrainingJob request of one attempt, and sends nothing.

A dry run prints it, and a restarted launcher makes the very same one again.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from orchestrator.errors import InvalidRequest
from orchestrator.platforms.base import Request
from orchestrator.platforms.network_variables import add_network_variables
from orchestrator.platforms.sagemaker.processes.parallel import encode, place_hyperparameters, restyle
from orchestrator.training.starter.machine import HOME, ORDER, decode
from orchestrator.training.starter.machine import encode as encode_for_starter
from orchestrator.training.starter.words import DATA, Arguments, as_text, fill, make_command
from orchestrator.wire.names import digest, training_name
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template

HASH_TAG = "sweep:request-hash"
"""The tag that carries a request's hash."""
_ACCELERATED = ("ml.g", "ml.inf", "ml.p", "ml.trn")
_DATASET = {
    "ChannelName": "training",
    "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3DataDistributionType": "FullyReplicated"}},
}
"""The dataset's channel in templates of an older writer, which knew no other."""
MAX_PREFERENCES = 5
"""Instance types that one request may list."""
_PENDING_BOUNDS = (1_800, 2_419_200)
"""The least and the most seconds that SageMaker may be asked to wait for a machine, of an accelerated type only."""


def make_request(template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
    """Return the request: what all tasks share, and what this task, its place and its attempt add."""
    name = training_name(template.run, task.number, attempt)
    request = template.body["request"]
    channels = _channels(template, place.s3_uri)
    known = {**template.body.get("constants", {}), **task.point, **_folders(channels)}
    variables = _fill_in(request.get("Environment", {}), known)
    variables = add_network_variables(variables, place.lane.instance_type, place.instances)
    body = {
        **request,
        "TrainingJobName": name,
        "AlgorithmSpecification": _algorithm(template, task, place),
        "HyperParameters": _hyperparameters(template, task, place, name),
        "InputDataConfig": channels,
        "OutputDataConfig": {"S3OutputPath": f"{template.output}/trainings", **request.get("OutputDataConfig", {})},
        "ResourceConfig": {**request["ResourceConfig"], **_resources(task.together(place))},
        "StoppingCondition": _stopping(task, place, max_runtime_s),
    }
    if variables:
        body["Environment"] = variables
    if place.lane.purchase is Purchase.SPOT:
        body["EnableManagedSpotTraining"] = True
    if template.checkpoints:
        # They belong to the task, not to the attempt: the next attempt goes on where this one stopped.
        shared = {"S3Uri": f"{template.output}/checkpoints", **template.body.get("checkpoints", {})}
        body["CheckpointConfig"] = {**shared, "S3Uri": f"{shared['S3Uri']}/{task.number}"}
    tags = template.tags_of(task.number, attempt)
    content = digest(body | {"Tags": tags})
    body["Tags"] = [{"Key": key, "Value": value} for key, value in {**tags, HASH_TAG: content}.items()]
    return Request(place.lane, name, body, content, "CreateTrainingJob", _starter(template, body))


def _algorithm(template: Template, task: Task, place: Place) -> dict[str, Any]:
    """Return it with the image of the task, or of the instance type, if one of them has its own."""
    algorithm: dict[str, Any] = template.body["request"]["AlgorithmSpecification"]
    image = template.body["images"].get(place.lane.instance_type)
    if task.image:
        image = template.body.get("line_images", {}).get(task.image)
        if image is None:
            raise InvalidRequest(f"the run was not prepared for the image {task.image}", where=place.lane.region)
    return algorithm | {"TrainingImage": image} if image else algorithm


def is_accelerated(instance_type: str) -> bool:
    """Return whether SageMaker can be asked to wait for machines of this type."""
    return instance_type.startswith(_ACCELERATED)


def _resources(places: tuple[Place, ...]) -> dict[str, Any]:
    """Return the machines to ask for: of the first place, or of the first of these that has any.

    A committed lane's need their training plan's ARN: without it they would be bought on demand. Raise InvalidRequest
    when lane and ARN do not fit together, or AWS takes no such list.
    """
    place = places[0]
    lane = place.lane
    if len(places) > 1:
        return _preferences(places)
    if (lane.purchase is Purchase.COMMITTED) != bool(place.site):
        found = f"the training plan {place.site}" if place.site else "no training plan's ARN"
        raise InvalidRequest(
            f"a place bought as {lane.purchase.value} comes with {found}",
            where=str(lane),
            hint="load the plan's ARN with the catalog's commitments, and plan again",
        )
    machines: dict[str, Any] = {"InstanceType": lane.instance_type, "InstanceCount": place.instances}
    if place.site:
        machines["TrainingPlanArn"] = place.site
    return machines


def _preferences(places: tuple[Place, ...]) -> dict[str, Any]:
    types = [place.lane.instance_type for place in places]
    on_demand = all(place.lane.purchase is Purchase.ON_DEMAND for place in places)
    if not on_demand or len(set(types)) < len(types) or len(types) > MAX_PREFERENCES:
        raise InvalidRequest(
            "one request cannot ask for these places",
            where=", ".join(str(place.lane) for place in places),
            hint=f"SageMaker takes up to {MAX_PREFERENCES} types, each once and on demand: plan again",
        )
    if len({place.instances for place in places}) == 1:
        preferences = [{"InstanceType": name} for name in types]
        return {"InstancePreferences": preferences, "InstanceCount": places[0].instances}
    each = [{"InstanceType": place.lane.instance_type, "InstanceCount": place.instances} for place in places]
    return {"InstancePreferences": each}


def _hyperparameters(template: Template, task: Task, place: Place, name: str) -> dict[str, str]:
    shared: dict[str, str] = template.body["hyperparameters"]
    if "plain" in template.body:
        return {**shared, **{name: as_text(value) for name, value in task.point.items()}}
    if "starter" in template.body:
        return {**shared, **{name: encode_for_starter(value) for name, value in task.point.items()}}
    return {
        **shared,
        **place_hyperparameters(shared, place.lane.instance_type),
        **encode({"sagemaker_job_name": name}),
        **encode(restyle(task.point, template.body.get("style", ""))),
    }


def _starter(template: Template, body: dict[str, Any]) -> str:
    """Say who starts the processes, and, if it is our starter, why and with which command."""
    if "plain" in template.body:
        return "the image's own entry point"
    if "starter" not in template.body:
        return "AWS's toolkit in the image"
    values = {name: decode(value) for name, value in body["HyperParameters"].items()}
    order = values.pop(ORDER)
    folders = _folders(body["InputDataConfig"])
    words = make_command(order["command"], Arguments(**order.get("arguments", {})), values, folders)
    return f"the starter, for {template.body['starter']}: {shlex.join(words)}"


def _folders(channels: list[dict[str, Any]]) -> dict[str, str]:
    """Return the folders of the channels, by the names that stand for them in braces."""
    found = {f"{DATA}:{channel['ChannelName']}": f"{HOME}/input/data/{channel['ChannelName']}" for channel in channels}
    return {DATA: next(iter(found.values())), **found}


def _fill_in(variables: dict[str, str], known: dict[str, Any]) -> dict[str, str]:
    """Return variables with the names in their values' braces filled in: text as it is, all else as JSON."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in known.items()}
    return {name: fill(value, lambda found: texts.get(found, f"{{{found}}}")) for name, value in variables.items()}


def _channels(template: Template, s3_uri: str) -> list[dict[str, Any]]:
    """Return the template's channels, the first of them with the place's dataset, and the code's if it has one."""
    dataset, *fixed = template.body.get("channels", [_DATASET])
    source = {**dataset["DataSource"]["S3DataSource"], "S3Uri": s3_uri}
    code = [template.body["code_channel"]] if "code_channel" in template.body else []
    return [{**dataset, "DataSource": {"S3DataSource": source}}, *fixed, *code]


def _stopping(task: Task, place: Place, max_runtime_s: int) -> dict[str, int]:
    stopping = {"MaxRuntimeInSeconds": max_runtime_s}
    if place.lane.purchase is Purchase.SPOT:
        stopping["MaxWaitTimeInSeconds"] = max(task.limits.max_wait_s, max_runtime_s)
    elif is_accelerated(place.lane.instance_type):
        least, most = _PENDING_BOUNDS
        stopping["MaxPendingTimeInSeconds"] = min(max(task.limits.patience_s, least), most)
    return stopping
