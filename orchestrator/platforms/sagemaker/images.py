"""Which container image a sweep's trainings run in, for a Region.

AWS's own images are known to the SageMaker SDK, offline, from tables it carries. This is the one place that imports
it, when a sweep is submitted that names a framework instead of an image; nothing else ever needs it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.errors import SettingsError, SpecError, UsageError

if TYPE_CHECKING:
    from orchestrator.spec.sweep import Sweep
    from orchestrator.spec.train import Framework

log = logging.getLogger(__name__)


def images(sweep: Sweep, region: str, role: str) -> dict[str, str]:
    """The image of each instance type that the sweep allows."""
    types = sweep.where.instance_types
    train = sweep.train
    if train.image is not None:
        return dict.fromkeys(types, _filled(train.image, region, role))
    if train.framework is None:
        raise SpecError("neither an image nor a framework", hint="set train.image or train.framework")
    return {instance_type: _aws_image(train.framework, region, instance_type) for instance_type in types}


def _filled(image: str, region: str, role: str) -> str:
    if "{account}" in image:
        image = image.replace("{account}", account(role))
    return image.replace("{region}", region)


def account(role: str) -> str:
    """The account a role belongs to, as its ARN says."""
    parts = role.split(":")
    if len(parts) < 6 or not parts[4]:
        raise SettingsError(f"not a role's ARN: {role!r}", where="role", hint="arn:aws:iam::<account>:role/<name>")
    return parts[4]


def _aws_image(framework: Framework, region: str, instance_type: str) -> str:
    try:
        from sagemaker.core import image_uris
    except ImportError as error:
        raise UsageError(
            "AWS's images are looked up with the SageMaker SDK, which is not installed",
            hint="pip install 'sweep-orchestrator[sagemaker]', or set train.image",
        ) from error
    try:
        uri: str = image_uris.retrieve(
            framework=framework.name,
            region=region,
            version=framework.version,
            py_version=framework.python if framework.python != "py3" else None,
            instance_type=instance_type,
            image_scope="training",
        )
    except ValueError as error:
        text = " ".join(str(error).split())
        raise SpecError(f"no image for {instance_type} in {region}: {text}", where="train.framework") from error
    log.debug("%s in %s runs in %s", instance_type, region, uri)
    return uri
