"""Container images: finds the one that a training runs in, and pins it to its digest.

AWS's own images are known to the SageMaker SDK, offline, from tables that it carries. It is imported here alone, and
only when a sweep is submitted that names a framework instead of an image.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.aws.account import ecr
from orchestrator.errors import SettingsError, SpecError, UsageError

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.spec.train.framework import Framework
    from orchestrator.wire.template import Template


def fill_in_image(image: str, region: str, role: str) -> str:
    """Return the address of a user's own image, with its {region} and {account} filled in."""
    if "{account}" in image:
        image = image.replace("{account}", account_of(role))
    return image.replace("{region}", region)


def find_framework_image(framework: Framework, region: str, instance_type: str) -> str:
    """Return the address of AWS's image of this framework for this type of instance.

    Raise UsageError when the SageMaker SDK is not installed, SpecError when it knows no such image.
    """
    try:
        from sagemaker.core import image_uris
    except ImportError as error:
        raise UsageError(
            "AWS's images are looked up with the SageMaker SDK, which is not installed",
            where="train.framework",
            hint="pip install 'sweep-orchestrator[sagemaker]', or set train.image",
        ) from error
    base = {"base_framework_version": framework.base} if framework.base else {}
    try:
        uri: str = image_uris.retrieve(
            framework=framework.name,
            region=region,
            version=framework.version,
            py_version=None if framework.python == "py3" else framework.python,
            instance_type=instance_type,
            image_scope="training",
            **base,
        )
    except ValueError as error:
        text = " ".join(str(error).split())
        raise SpecError(f"no image for {instance_type} in {region}: {text}", where="train.framework") from error
    return uri


def pin_images(template: Template, clients: Clients) -> Template:
    """Return the template with our own images by their digests: a tag may come to mean another while a run goes on.

    Raise NotFound when an image is not in the Region: once at submit, and not in ten thousand launchers.
    """
    request = template.body["request"]
    account, algorithm = account_of(request["RoleArn"]), request["AlgorithmSpecification"]
    image = ecr.pin_image(algorithm["TrainingImage"], account, clients)
    pinned = {
        "request": {**request, "AlgorithmSpecification": {**algorithm, "TrainingImage": image}},
        "images": {kind: ecr.pin_image(uri, account, clients) for kind, uri in template.body["images"].items()},
    }
    if named := template.body.get("line_images"):
        pinned["line_images"] = {name: ecr.pin_image(uri, account, clients) for name, uri in named.items()}
    return replace(template, body={**template.body, **pinned})


def account_of(role: str) -> str:
    """Return the account that a role belongs to, as its ARN says. Raise SettingsError when it is no role's ARN."""
    parts = role.split(":")
    if len(parts) < 6 or not parts[4]:
        raise SettingsError(f"not a role's ARN: {role!r}", where="role", hint="arn:aws:iam::<account>:role/<name>")
    return parts[4]
