"""Amazon's Deep Learning AMIs, and the SSM parameters that name the latest of each.

The parameters' names: https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html. The images are made up.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store

PREFIX = "/aws/service/deeplearning/ami/"
_OWNER = "898082745236"
"""The account of Amazon's that owns them."""
_SYSTEMS = {
    "amazon-linux-2023": "/dev/xvda",
    "ubuntu-22.04": "/dev/sda1",
    "ubuntu-24.04": "/dev/sda1",
}
"""The operating systems, each with the name of its root device."""
_KINDS = {
    "base-oss-nvidia-driver-gpu": "Base OSS Nvidia Driver GPU AMI",
    **{
        f"oss-nvidia-driver-gpu-pytorch-{version}": f"OSS Nvidia Driver AMI GPU PyTorch {version}"
        for version in ("2.6", "2.7", "2.8", "2.9", "2.10", "2.11")
    },
}
_ARCHITECTURES = ("x86_64", "arm64")


def add_deep_learning_images(store: Ec2Store, region: str) -> None:
    """Add these images and their parameters to a Region, unless they are there."""
    for architecture in _ARCHITECTURES:
        for kind, title in _KINDS.items():
            for system, device in _SYSTEMS.items():
                facts = {
                    "name": f"Deep Learning {title} ({system}) 20261009",
                    "description": f"Made up by the local cloud, after Deep Learning {title}",
                    "owner_id": _OWNER,
                    "owner_alias": "amazon",
                    "architecture": architecture,
                    "virtualization_type": "hvm",
                    "hypervisor": "xen",
                    "root_device_type": "ebs",
                    "root_device_name": device,
                }
                path = f"{architecture}/{kind}-{system}"
                store.add_image(_id(region, path), facts, f"{PREFIX}{path}/latest/ami-id")


def _id(region: str, path: str) -> str:
    """Return an image's id, which is another one in each Region."""
    return f"ami-0{hashlib.sha256(f'{region}/{path}'.encode()).hexdigest()[:16]}"
