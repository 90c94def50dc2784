"""What the fixtures `sweep` and `shell` are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Sweep = Callable[..., Ended]
Shell = Callable[..., "subprocess.Popen[str]"]
