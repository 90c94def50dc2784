"""What a machine writes last: how it ended. Whoever asks later finds it in S3, when the machine is long gone.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

from orchestrator.training.bare.files.bucket import S3Failed, Uri
from orchestrator.training.bare.together.leave import TASK
from orchestrator.training.process import write_line
from orchestrator.training.starter.causes import follows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.training.bare.files.bucket import Bucket

VERSION = 1
_PATIENCE_S, _AGAIN_S = 300.0, 5.0
"""Seconds for which S3 is asked to take the last word, and between two tries. The watchdog leaves more."""
DONE, FAILED, LEFT = "done", "failed", "left"


@dataclass(frozen=True)
class MachineOutcome:
    """The end of one machine of a training."""

    index: int
    state: str
    """`done`; `failed` if this machine is the one that ended the training; `left` if it was told to."""
    cause: str = ""
    """See `together/leave.py`; empty if it is done."""
    reason: str = ""
    """One line for people."""
    exit_code: int = 0
    """The exit code of the training's own process; 0 if it never began."""
    started_at: float = 0.0
    """Seconds since the epoch, when this program began."""
    began_at: float = 0.0
    """Seconds since the epoch, when the training's own process began; 0 if it never did."""
    ended_at: float = 0.0
    artifact: str = ""
    """The S3 address of the model; empty if this machine left none."""
    facts: dict[str, str] = field(default_factory=dict)
    """What its platform says of the machine: `instance`, `zone`, `type`, `bought`."""
    error: str = ""
    """What the training's own process has said of its failure, whoever has ended the training."""
    used: dict[str, float] = field(default_factory=dict)
    """What the training used of the machine, in percent: see `usage.py`."""

    def to_json(self) -> bytes:
        """Return it as it is stored."""
        return json.dumps({**asdict(self), "version": VERSION}).encode()


def usage_of_all(outcomes: Sequence[MachineOutcome]) -> dict[str, float]:
    """Return what a training used of its machines: of processors and GPUs the mean of all, of memory the most."""
    names = dict.fromkeys(name for one in outcomes for name in one.used)
    found = {}
    for name in names:
        values = [one.used[name] for one in outcomes if name in one.used]
        found[name] = max(values) if "memory" in name else sum(values) / len(values)
    return found


def why_failed(outcomes: Iterable[MachineOutcome | None], told: str) -> str:
    """Return why a training failed by itself: what was told, unless that follows from what failed on some machine."""
    failed = sorted((one for one in outcomes if one and one.cause == TASK), key=lambda one: one.ended_at)
    own = (one.error for one in failed if one.error and not follows(one.error))
    return next(own, told) if follows(told) else told


def outcome_uri(output: str, index: int) -> str:
    """Return where a machine's outcome stands, given the prefix of the attempt."""
    return f"{output}/machines/{index}/outcome.json"


def leave_outcome(bucket: Bucket, output: str, ended: MachineOutcome) -> None:
    """Write how a machine ended, and try again while S3 does not take it: nobody else will ever know it."""
    gives_up_at = time.monotonic() + _PATIENCE_S
    while True:
        try:
            bucket.write(Uri.parse(outcome_uri(output, ended.index)), ended.to_json())
            return
        except S3Failed as error:
            write_line(f"sweep: how it ended cannot be written: {error}")
        if time.monotonic() > gives_up_at:
            return
        time.sleep(_AGAIN_S)


def read_machine_outcome(text: bytes) -> MachineOutcome:
    """Return a stored outcome; keys that are not known are ignored. Raise ValueError, KeyError or TypeError."""
    body = json.loads(text)
    return MachineOutcome(**{one.name: body[one.name] for one in fields(MachineOutcome) if one.name in body})
