"""`sweep --help`: what every command pays before it does anything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import sdk
from benchmarks.figure import Figure, best

if TYPE_CHECKING:
    from collections.abc import Iterator


def measure() -> Iterator[Figure]:
    bare = best([sys.executable, "-c", "pass"]).wall_s
    help_ = best([Path(sys.executable).parent / "sweep", "--help"]).wall_s
    rival = best([sdk.python(), "-c", "import sagemaker"], times=2).wall_s
    yield Figure(
        "sweep --help, wall",
        help_,
        "s",
        budget=0.25,
        rival=f"python -c pass {bare:.2f} s, import sagemaker {rival:.1f} s",
    )
