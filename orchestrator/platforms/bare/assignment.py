"""Makes the assignment of one attempt, for machines that are bare (`training/bare`). It sends nothing.

runs/<run>/trainings/<training>/        in the Region's bucket: what an attempt leaves, and how its machines agree
runs/<run>/checkpoints/<task>/          of the task: the next attempt goes on from there
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.network_variables import add_network_variables
from orchestrator.training.bare.assignment import Assignment, Channel
from orchestrator.training.starter.machine import HOME, encode
from orchestrator.training.starter.words import DATA, fill
from orchestrator.wire.names import training_name

if TYPE_CHECKING:
    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template

LOG_GROUP = "/sweep/trainings"
"""The group in each Region that bare machines log to. A stream is called `<training>/rank-<index>`."""
UNTOLD = "its machines are gone, and S3 does not tell just now how they ended"
"""What is said of a training meanwhile."""
_LOOK_S = 5.0


def attempt_folder(output: str, training: str) -> str:
    """Return the S3 prefix of an attempt, given its template's output: all of it lies below."""
    return f"{output}/trainings/{training}"


def make_assignment(
    template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int, **more: Any
) -> Assignment:
    """Return the assignment of an attempt, of a template whose body has what `template.share` makes.

    `more` is what the platform says besides, such as `kind` or `image`. The same arguments make the same assignment.
    """
    body, name = template.body, training_name(template.run, task.number, attempt)
    channels = {body["data"]: Channel(place.s3_uri), **{key: Channel(uri) for key, uri in body["channels"].items()}}
    folders = {f"{DATA}:{key}": f"{HOME}/input/data/{key}" for key in channels}
    known = {**body["constants"], **task.point, **folders, DATA: folders[f"{DATA}:{body['data']}"]}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in known.items()}
    variables = {
        key: fill(value, lambda found: texts.get(found, f"{{{found}}}")) for key, value in body["environment"].items()
    }
    folder = {"checkpoint_folder": body["checkpoint_folder"]} if body["checkpoint_folder"] else {}
    return Assignment(
        training=name,
        region=template.region,
        output=attempt_folder(template.output, name),
        sources=body["source"],
        channels=channels,
        hyperparameters={**body["hyperparameters"], **{key: encode(value) for key, value in task.point.items()}},
        environment=add_network_variables(variables, place.lane.instance_type, place.instances),
        instances=place.instances,
        instance_type=place.lane.instance_type,
        max_runtime_s=max_runtime_s,
        checkpoints=template.checkpoints_of(task.number),
        log_group=LOG_GROUP,
        look_s=min(_LOOK_S, template.poll_s),
        **folder,
        **more,
    )
