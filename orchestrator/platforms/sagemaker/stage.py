"""Prepares a Region at submit: finds the images, pins them, and makes the template that the Region's tasks share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.aws.secrets import check_secrets
from orchestrator.errors import SettingsError, SpecError
from orchestrator.platforms.sagemaker.asked.channels import look_for_data, make_channels
from orchestrator.platforms.sagemaker.asked.file_systems import make_file_systems
from orchestrator.platforms.sagemaker.asked.paths import checkpoint_config, look_for_buckets
from orchestrator.platforms.sagemaker.asked.security import Security, make_security, output_key, volume_key
from orchestrator.platforms.sagemaker.asked.table import read_asked
from orchestrator.platforms.sagemaker.asked.verbatim import fill_in, merge
from orchestrator.platforms.sagemaker.aws_images.contents import is_tensorflow, measures_over_time
from orchestrator.platforms.sagemaker.images import account_of, fill_in_image, find_framework_image, pin_images
from orchestrator.platforms.sagemaker.instance_types import PREFIX, types_of_ours
from orchestrator.platforms.sagemaker.processes.mpi_options import mpi_options_to_send
from orchestrator.platforms.sagemaker.processes.parallel import PARALLEL, Processes, encode, restyle
from orchestrator.platforms.sagemaker.processes.starting import (
    code_channel,
    entry_point,
    packed_code,
    starters_hyperparameters,
    why_starter,
)
from orchestrator.spec.duration import seconds
from orchestrator.spec.train.environment import plain_variables, references, secrets
from orchestrator.spec.warm import is_brought
from orchestrator.training.checkpoint import EVERY, FOLDER
from orchestrator.training.references import references_in, variable
from orchestrator.training.starter.words import as_text
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.platforms.sagemaker.asked.table import Asked
    from orchestrator.spec.train.train import Train
    from orchestrator.training.references import Reference


NOTHING = Security()
"""Settings that say nothing."""


def stage(staging: Staging, usual: Security, clients: Clients) -> Template:
    """Return the Region's template, with our own images by their digests.

    Raise SettingsError when trainings have no role, NotFound when an image, a secret, a fixed channel's data or a
    bucket is not where it should be.
    """
    template = make_template(staging, usual)
    look_for_data(_to_be_there(template.body["channels"], staging), staging.region, clients)
    look_for_buckets(read_asked(staging.sweep, usual), staging.region, clients)
    check_secrets(references_in(template.body["request"].get("Environment", {})), clients)
    return pin_images(template, clients)


def _to_be_there(channels: list[dict[str, Any]], staging: Staging) -> list[dict[str, Any]]:
    """Return the channels whose data is there before the run is submitted."""
    return [one for one in channels if not is_brought(one["ChannelName"], staging.sweep.warm)]


def make_template(staging: Staging, usual: Security = NOTHING) -> Template:
    """Return what all tasks of the run share in a Region. Nothing is sent. SettingsError if trainings have no role.

    `usual` is what the settings say of all trainings. The request names the image that most instance types take; those
    that take another stand in `images`.
    """
    asked = read_asked(staging.sweep, usual)
    role = asked.role or staging.role
    if not role:
        raise SettingsError("role is not set", hint='export SWEEP_ROLE, or write `role = "…"` in sweep.toml')
    train, region = staging.sweep.train, staging.region
    types = types_of_ours(staging.sweep).values()
    if not types:
        raise SpecError("none of these is SageMaker's", where="where.instance_types", hint=f"name one with {PREFIX}")
    by_type = {kind: _image(train, region, kind, role) for kind in types}
    image = Counter(by_type.values()).most_common(1)[0][0]
    where = references(train.environment, region, account_of(role)) if secrets(train.environment) else {}
    return Template(
        platform="sagemaker",
        region=region,
        run=staging.run,
        owner=staging.owner,
        body={
            "request": merge(
                {**_request(train, image, staging.source, where), "RoleArn": role, **_secured(train, asked, region)},
                fill_in(asked.request, region, account_of(role)) if asked.request else {},
            ),
            "hyperparameters": _hyperparameters(train, _source(staging, asked), region),
            "channels": _channels(train, asked, region),
            "checkpoints": _checkpoints(train, asked, staging),
            "images": {kind: uri for kind, uri in by_type.items() if uri != image},
            **({"line_images": named} if (named := _line_images(staging, role)) else {}),
            "style": train.arguments.style,
            "constants": train.hyperparameters if train.environment else {},
            **_started(train, staging.source, in_channel=bool(asked.network_isolation)),
        },
        output=staging.output,
        checkpoints=train.checkpoints is not None,
        checkpoint_prefix=_checkpoints(train, asked, staging).get("S3Uri", ""),
        poll_s=staging.poll_s,
        metrics=dict(train.metrics),
        tags=dict(staging.sweep.tags),
    )


def _started(train: Train, source: str, *, in_channel: bool) -> dict[str, Any]:
    """Return the parts of the template that have to do with who starts the training."""
    if train.starts_image:
        return {"plain": True}
    starter = why_starter(train)
    code = {"code_channel": code_channel(source)} if starter or in_channel else {}
    return {"starter": starter, **code} if starter else code


def _source(staging: Staging, asked: Asked) -> str:
    """Return where the training finds its packed sources: in S3, or in a channel if it is cut off from S3."""
    return packed_code(staging.source) if asked.network_isolation else staging.source


def _channels(train: Train, asked: Asked, region: str) -> list[dict[str, Any]]:
    return [*make_channels(train, asked.channels, region), *make_file_systems(asked.file_systems, region)]


def _checkpoints(train: Train, asked: Asked, staging: Staging) -> dict[str, str]:
    folder = train.checkpoints.folder if train.checkpoints else None
    return checkpoint_config(asked, folder, staging.region, staging.run)


def _secured(train: Train, asked: Asked, region: str) -> dict[str, Any]:
    """Return the parts of the request that have to do with networks, keys and paths."""
    volumes = {"VolumeSizeInGB": train.volume_gb, **volume_key(asked, region)}
    return {
        "ResourceConfig": volumes,
        "OutputDataConfig": {**asked.output_config(region), **output_key(asked, region)},
        **make_security(asked, region),
    }


def _image(train: Train, region: str, instance_type: str, role: str) -> str:
    if train.image is not None:
        return fill_in_image(train.image, region, role)
    if train.framework is None:
        raise SpecError("neither an image nor a framework", where="train", hint="set one of them")
    return find_framework_image(train.framework, region, instance_type)


def _line_images(staging: Staging, role: str) -> dict[str, str]:
    """Return the images in this Region that tasks ask for, by what they call them."""
    return {image: fill_in_image(image, staging.region, role) for image in staging.images}


def _is_tensorflow(train: Train) -> bool:
    if train.framework is not None:
        return train.framework.name == "tensorflow"
    return is_tensorflow(train.image or "")


def _request(train: Train, image: str, source: str, where: Mapping[str, Reference]) -> dict[str, Any]:
    algorithm: dict[str, Any] = {"TrainingImage": image, "TrainingInputMode": "File"}
    if why_starter(train):
        algorithm |= entry_point(source)
    if train.metrics:
        algorithm["MetricDefinitions"] = [{"Name": name, "Regex": regex} for name, regex in train.metrics.items()]
    if train.framework and measures_over_time(train.framework.name, train.framework.version):
        algorithm["EnableSageMakerMetricsTimeSeries"] = True
    request: dict[str, Any] = {"AlgorithmSpecification": algorithm}
    environment = _environment(train, where)
    if environment:
        request["Environment"] = environment
    return request


def _environment(train: Train, where: Mapping[str, Reference]) -> dict[str, str]:
    """Return the user's environment, with where secrets lie, and how often and where `Checkpoints` are to save."""
    own = plain_variables(train.environment) | {variable(name): str(reference) for name, reference in where.items()}
    if train.checkpoints is None:
        return own
    folder = {FOLDER: train.checkpoints.folder} if train.checkpoints.folder else {}
    return {EVERY: str(seconds(train.checkpoints.every)), **folder, **own}


def _hyperparameters(train: Train, source: str, region: str) -> dict[str, str]:
    if train.starts_image:
        return {name: as_text(value) for name, value in train.hyperparameters.items()}
    if why_starter(train):
        return starters_hyperparameters(train)
    script = {
        "sagemaker_program": train.entry_point,
        "sagemaker_submit_directory": source,
        "sagemaker_container_log_level": 20,
        "sagemaker_region": region,
    }
    # AWS's TensorFlow images always hand `--model_dir` to the script; what is there becomes the artifact.
    model = {"model_dir": "/opt/ml/model"} if _is_tensorflow(train) else {}
    processes = PARALLEL[train.parallel](Processes(train.processes_per_instance, mpi_options_to_send(train)))
    return encode({**model, **restyle(train.hyperparameters, train.arguments.style), **script, **processes})
