"""Which image instances boot from: found at submit, and pinned by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.errors import InvalidRequest, NotFound
from orchestrator.platforms.ec2.families import is_arm
from orchestrator.spec.by_region import in_region
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.ec2.asked import Machines

_DEEP_LEARNING = "/aws/service/deeplearning/ami/{arch}/oss-nvidia-driver-gpu-pytorch-2.8-ubuntu-24.04/latest/ami-id"
_WITH_DOCKER = "/aws/service/deeplearning/ami/{arch}/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
_PLAIN = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{arch}"
_DEFAULT_ROOT = "/dev/xvda"


def image_name(asked: Machines, region: str, instance_type: str) -> str:
    """Return the id of an image, or the SSM parameter that names it, for a type of instance."""
    if asked.ami:
        return in_region(asked.ami, region)
    known = shape(instance_type)
    arch = "arm64" if is_arm(instance_type) else "x86_64"
    if asked.container:
        return _WITH_DOCKER.format(arch=arch)
    return (_DEEP_LEARNING if known and known.gpus else _PLAIN).format(arch=arch)


def pin_image(name: str, region: str, clients: Clients) -> dict[str, Any]:
    """Return an image's id and its root volume: `ami`, `device`, and the least `gb`. NotFound if it is not there."""
    ami = _look_up(name, region, clients) if name.startswith("/") else name
    try:
        with aws_errors(f"look at the image {ami}", where=region):
            images = clients.client("ec2", region).describe_images(ImageIds=[ami])["Images"]
    except InvalidRequest as error:
        if not aws_code(error).startswith("InvalidAMIID"):
            raise
        images = []
    if not images:
        hint = "it may be gone, or another Region's: mend platforms.ec2.ami"
        raise NotFound(f"there is no image {ami}", where=region, hint=hint)
    device = images[0].get("RootDeviceName") or _DEFAULT_ROOT
    volumes = [
        one.get("Ebs", {}) for one in images[0].get("BlockDeviceMappings", ()) if one.get("DeviceName") == device
    ]
    return {"ami": ami, "device": device, "gb": max((int(one.get("VolumeSize", 0)) for one in volumes), default=0)}


def _look_up(name: str, region: str, clients: Clients) -> str:
    ssm = clients.client("ssm", region)
    try:
        with aws_errors(f"read the parameter {name}", where=region):
            return str(ssm.get_parameter(Name=name)["Parameter"]["Value"])
    except (NotFound, InvalidRequest) as error:
        if aws_code(error) != "ParameterNotFound":
            raise
        hint = "AWS may have renamed it: write platforms.ec2.ami"
        raise NotFound(f"there is no SSM parameter {name}", where=region, hint=hint) from error
