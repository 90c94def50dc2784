"""Variables of `train.environment` that an image has, too: what is written takes the place of what the image says.

No shell reads them, so `$PATH` in a value stays as it is. A PATH without the image's folders finds no `train`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.base import Complaint
from orchestrator.spec.train.environment import plain_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.train.train import Train

_NAMES = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PYTHONHOME")


def check_image_variables(train: Train) -> Iterator[Complaint]:
    """Yield a complaint for each of them whose value wants to be completed by a shell."""
    for name, value in _said(train).items():
        if "$" in value:
            message = f"{name}: no shell completes {value}, and the training finds it as it is"
            yield Complaint(message, "write out the folders of the image", ("train", "environment", name))


def image_variable_cautions(train: Train) -> Iterator[str]:
    """Yield a caution for each of them."""
    for name in _said(train):
        yield f"environment: {name} takes the place of the image's own, with all that stood there"


def _said(train: Train) -> dict[str, str]:
    return {name: value for name, value in plain_variables(train.environment).items() if name in _NAMES}
