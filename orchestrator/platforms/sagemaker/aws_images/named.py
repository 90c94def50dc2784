"""Finds which of AWS's own images a sweep names: by `train.framework`, or as `train.image` by its URI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.spec.train.framework import Framework
    from orchestrator.spec.train.train import Train

ACCOUNTS = {
    "763104351884",  # most Regions; those below have one each
    *("626614931356", "871362719292", "975050140332", "364406365360", "772153158452", "907027046896", "457447274322"),
    *("550225433462", "633930458069", "590183813437", "204538143572", "727897471807", "380420809688", "692866216735"),
    *("503227376785", "780543022126", "914824155844", "217643126080", "124382933778", "637423239942", "446045086412"),
    *("442386744353", "886529160074", "094389454867", "303241398832", "454834333376", "371248457586", "204133271717"),
}
"""The accounts that AWS's deep learning containers lie in."""
_URI = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.[^/]+/"
    r"(?:huggingface-)?(?P<name>pytorch|tensorflow)(?:-training)?:(?P<version>\d+\.\d+(?:\.\d+)?)\b.*"
)

FAMILIES = ("pytorch", "tensorflow")
"""Frameworks whose images start several processes. All others start one on each instance."""


@dataclass(frozen=True)
class Named:
    """One of AWS's images, by what decides how processes start in it."""

    name: str
    """The framework that it is built on. Hugging Face's are built on PyTorch or TensorFlow."""
    version: str
    """The version of that."""
    called: str
    """What messages call the images of its kind."""
    at: tuple[str, ...]
    """The path to the part of the sweep file that names its version."""

    @property
    def at_name(self) -> tuple[str, ...]:
        """The path to the part of the sweep file that names the framework."""
        return (*self.at[:-1], "name") if self.at[-1] == "version" else self.at

    @property
    def by_uri(self) -> bool:
        """True if the very image is named, and not the framework that the image of each instance type is found for."""
        return self.at == ("train", "image")


def named_image(train: Train) -> Named | None:
    """Return the image of AWS's that a training runs in; None for any other, and for those of one process."""
    if train.framework is not None:
        return _of_framework(train.framework)
    found = _URI.fullmatch(train.image or "")
    if found is None or found["account"] not in ACCOUNTS:
        return None
    return Named(
        found["name"], found["version"], f"AWS's {found['name']} {found['version']} images", ("train", "image")
    )


def _of_framework(framework: Framework) -> Named | None:
    called, at = f"AWS's {framework.name} {framework.version} images", ("train", "framework", "version")
    if framework.base is None:
        known = framework.name in FAMILIES
        return Named(framework.name, framework.version, called, at) if known else None
    name = framework.base.rstrip("0123456789.")
    version = framework.base.removeprefix(name)
    return Named(name, version, f"AWS's huggingface images of {name} {version}", ("train", "framework", "base"))
