"""Where container images are.

AWS's own images are known to the SageMaker SDK, offline, from tables it carries. This is the one place that imports
it, when a sweep is submitted that names a framework instead of an image; nothing else ever needs it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.aws import ecr
from orchestrator.errors import SettingsError, SpecError, UsageError

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.wire.template import Template


def located(image: str, region: str, role: str) -> str:
    """A user's own image, which may lie under {region} and {account}."""
    if "{account}" in image:
        image = image.replace("{account}", account_of(role))
    return image.replace("{region}", region)


def of_framework(name: str, version: str, python: str, region: str, instance_type: str) -> str:
    """AWS's image of this framework for this type of instance."""
    try:
        from sagemaker.core import image_uris
    except ImportError as error:
        raise UsageError(
            "AWS's images are looked up with the SageMaker SDK, which is not installed",
            where="train.framework",
            hint="pip install 'sweep-orchestrator[sagemaker]', or set train.image",
        ) from error
    try:
        uri: str = image_uris.retrieve(
            framework=name,
            region=region,
            version=version,
            py_version=None if python == "py3" else python,
            instance_type=instance_type,
            image_scope="training",
        )
    except ValueError as error:
        text = " ".join(str(error).split())
        raise SpecError(f"no image for {instance_type} in {region}: {text}", where="train.framework") from error
    return uri


def pinned(template: Template, clients: Clients) -> Template:
    """With our own images by their digests: a tag may come to mean another image while a run goes on.

    NotFound, if there is none in the Region: found now, and not by ten thousand launchers.
    """
    account, algorithm = account_of(template.request["RoleArn"]), template.request["AlgorithmSpecification"]
    image = ecr.pinned(algorithm["TrainingImage"], account, clients)
    return replace(
        template,
        request={**template.request, "AlgorithmSpecification": {**algorithm, "TrainingImage": image}},
        images={kind: ecr.pinned(uri, account, clients) for kind, uri in template.images.items()},
    )


def account_of(role: str) -> str:
    """The account a role belongs to, as its ARN says."""
    parts = role.split(":")
    if len(parts) < 6 or not parts[4]:
        raise SettingsError(f"not a role's ARN: {role!r}", where="role", hint="arn:aws:iam::<account>:role/<name>")
    return parts[4]
