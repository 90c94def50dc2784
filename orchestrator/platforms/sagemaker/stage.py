"""Prepares a Region at submit: finds the images, pins them, and makes the template that the Region's tasks share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.errors import SettingsError, SpecError
from orchestrator.platforms.sagemaker.asked.channels import look_for_data, make_channels
from orchestrator.platforms.sagemaker.asked.table import asked
from orchestrator.platforms.sagemaker.images import fill_in_image, find_framework_image, pin_images
from orchestrator.platforms.sagemaker.instance_types import PREFIX, types_of_ours
from orchestrator.platforms.sagemaker.parallel import PARALLEL, Processes, encode, restyle
from orchestrator.platforms.sagemaker.starting import code_channel, entry_point, starters_order, who_starts
from orchestrator.spec.duration import seconds
from orchestrator.training.checkpoint import EVERY
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.spec.train import Train


def stage(staging: Staging, clients: Clients) -> Template:
    """Return the Region's template, with our own images by their digests.

    Raise SettingsError when trainings have no role, NotFound when an image or a fixed channel's data is not in the
    Region.
    """
    template = make_template(staging)
    look_for_data(template.body["channels"], staging.region, clients)
    return pin_images(template, clients)


def make_template(staging: Staging) -> Template:
    """Return what all tasks of the run share in a Region. Nothing is sent. SettingsError if trainings have no role.

    The request names the image that most instance types take; those that take another stand in `images`.
    """
    if not staging.role:
        raise SettingsError("role is not set", hint='export SWEEP_ROLE, or write `role = "…"` in sweep.toml')
    train, region = staging.sweep.train, staging.region
    types = types_of_ours(staging.sweep).values()
    if not types:
        raise SpecError("none of these is SageMaker's", where="where.instance_types", hint=f"name one with {PREFIX}")
    starter, why = who_starts(train)
    by_type = {kind: _image(train, region, kind, staging.role) for kind in types}
    image = Counter(by_type.values()).most_common(1)[0][0]
    return Template(
        platform="sagemaker",
        region=region,
        run=staging.run,
        owner=staging.owner,
        body={
            "request": _request(train, image, staging),
            "hyperparameters": _hyperparameters(train, staging.source, region),
            "channels": make_channels(train, asked(staging.sweep).channels, region),
            "images": {kind: uri for kind, uri in by_type.items() if uri != image},
            "style": train.arguments.style,
            **({"starter": why, "code_channel": code_channel(staging.source)} if starter else {}),
        },
        output=staging.output,
        checkpoints=train.checkpoints is not None,
        poll_s=staging.poll_s,
        metrics=dict(train.metrics),
    )


def _image(train: Train, region: str, instance_type: str, role: str) -> str:
    if train.image is not None:
        return fill_in_image(train.image, region, role)
    if train.framework is None:
        raise SpecError("neither an image nor a framework", where="train", hint="set one of them")
    framework = train.framework
    return find_framework_image(framework.name, framework.version, framework.python, region, instance_type)


def _request(train: Train, image: str, staging: Staging) -> dict[str, Any]:
    algorithm: dict[str, Any] = {"TrainingImage": image, "TrainingInputMode": "File"}
    if who_starts(train).starter:
        algorithm |= entry_point(staging.source)
    if train.metrics:
        algorithm["MetricDefinitions"] = [{"Name": name, "Regex": regex} for name, regex in train.metrics.items()]
    if train.metrics or train.framework:
        algorithm["EnableSageMakerMetricsTimeSeries"] = True
    request = {
        "RoleArn": staging.role,
        "AlgorithmSpecification": algorithm,
        "ResourceConfig": {"VolumeSizeInGB": train.volume_gb},
    }
    environment = _environment(train)
    if environment:
        request["Environment"] = environment
    return request


def _environment(train: Train) -> dict[str, str]:
    """Return the user's environment, and how often to save: so it reaches `Checkpoints` in the script."""
    every = {EVERY: str(seconds(train.checkpoints.every))} if train.checkpoints else {}
    return every | train.environment


def _hyperparameters(train: Train, source: str, region: str) -> dict[str, str]:
    if who_starts(train).starter:
        return encode(train.hyperparameters) | starters_order(train)
    script = {
        "sagemaker_program": train.entry_point,
        "sagemaker_submit_directory": source,
        "sagemaker_container_log_level": 20,
        "sagemaker_region": region,
    }
    if train.framework is not None and train.framework.name == "tensorflow":
        # AWS's TensorFlow images always hand `--model_dir` to the script; what is there becomes the artifact.
        script["model_dir"] = "/opt/ml/model"
    processes = PARALLEL[train.parallel](Processes(train.processes_per_instance, train.mpi_options))
    return encode({**restyle(train.hyperparameters, train.arguments.style), **script, **processes})
