"""The rival: the `sagemaker` SDK as the classic recipe uses it, in an environment of its own under .bench/sdk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import environment

if TYPE_CHECKING:
    from pathlib import Path

REQUIREMENT = "sagemaker<3"  # the last with Estimators, which every tutorial shows


def installed() -> bool:
    return environment.installed("sdk")


def python() -> Path:
    """Its interpreter; the environment is made on first use."""
    return environment.python("sdk", REQUIREMENT)
