"""What a template of bare machines holds: what all tasks of a Region share, for `training/bare`. Only submit needs it.

Platforms whose machines are bare (`training/bare`) put it into the body of their templates, beside what is their own.
`assignment.py` makes the assignment of one attempt of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.errors import NotFound, SpecError
from orchestrator.platforms.base import Complaint
from orchestrator.spec.by_region import in_region
from orchestrator.spec.duration import seconds
from orchestrator.spec.train.environment import plain_variables, references
from orchestrator.spec.warm import is_brought
from orchestrator.training.checkpoint import EVERY, FOLDER
from orchestrator.training.references import references_in, variable
from orchestrator.training.starter.machine import ORDER, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.spec.train.train import Train


def check_bare(train: Train) -> Iterator[Complaint]:
    """Yield a complaint for each thing that our starter does not do where no SageMaker brings the training."""
    if train.starts_image:
        yield Complaint("the starter starts a script or a command", "say which one", ("train", "entry_point"))
    if train.parallel == "smddp":
        yield Complaint("smddp is SageMaker's own", "use torchrun", ("train", "parallel"))


def share(staging: Staging, account: str) -> dict[str, Any]:
    """Return what all tasks of the run share in a Region. SpecError where a fixed channel has no data there.

    `account` completes the ARN of a secret that is given by its name.
    """
    train, region = staging.sweep.train, staging.region
    missing = train.lacks_in(region)
    if missing:
        raise SpecError(missing, where=f"train.channels in {region}")
    fixed = {name: in_region(uri, region) for name, uri in train.channels.items()}
    return {
        "source": staging.source,
        "data": train.data_channel,
        "channels": fixed,
        "hyperparameters": {
            **{name: encode(value) for name, value in train.hyperparameters.items()},
            ORDER: json.dumps(_order(train)),
        },
        "environment": _environment(train, region, account),
        "constants": train.hyperparameters if train.environment else {},
        "checkpoint_folder": (train.checkpoints.folder or "") if train.checkpoints else "",
    }


def look_for_inputs(body: dict[str, Any], staging: Staging, clients: Clients) -> None:
    """Raise NotFound for a fixed channel without objects, and for a secret that is not there."""
    from orchestrator.aws.s3 import S3
    from orchestrator.aws.secrets import check_secrets
    from orchestrator.wire.names import S3Uri

    for name, text in body["channels"].items():
        if is_brought(name, staging.sweep.warm):
            continue
        uri = S3Uri.parse(text)
        bucket = S3(clients, staging.region, uri.bucket)
        bucket.check_region()
        if not bucket.has_any(uri.key):
            hint = "put the data there, or name where it lies"
            raise NotFound(f"there is nothing at {uri}", where=f"train.channels.{name}", hint=hint)
    check_secrets(references_in(body["environment"]), clients)


def _order(train: Train) -> dict[str, Any]:
    """Return what the starter is to start, and how."""
    order: dict[str, Any] = {"command": train.command_words, "data": train.data_channel, "parallel": train.parallel}
    if train.arguments.options:
        order["arguments"] = train.arguments.options
    if isinstance(train.processes_per_instance, int):
        order["processes"] = train.processes_per_instance
    if train.mpi_options:
        order["mpi_options"] = train.mpi_options
    return order


def _environment(train: Train, region: str, account: str) -> dict[str, str]:
    where = references(train.environment, region, account)
    own = plain_variables(train.environment) | {variable(name): str(reference) for name, reference in where.items()}
    if train.checkpoints is None:
        return own
    folder = {FOLDER: train.checkpoints.folder} if train.checkpoints.folder else {}
    return {EVERY: str(seconds(train.checkpoints.every)), **folder, **own}
