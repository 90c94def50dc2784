"""What a machine writes last: how it ended. Whoever asks later finds it in S3, when the machine is long gone.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields

VERSION = 1
DONE, FAILED, LEFT = "done", "failed", "left"


@dataclass(frozen=True)
class MachineOutcome:
    """The end of one machine of a training."""

    index: int
    state: str
    """`done`; `failed` if this machine is the one that ended the training; `left` if it was told to."""
    cause: str = ""
    """See `leave.py`; empty if it is done."""
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

    def to_json(self) -> bytes:
        """Return it as it is stored."""
        return json.dumps({**asdict(self), "version": VERSION}).encode()


def outcome_uri(output: str, index: int) -> str:
    """Return where a machine's outcome stands, given the prefix of the attempt."""
    return f"{output}/machines/{index}/outcome.json"


def read_machine_outcome(text: bytes) -> MachineOutcome:
    """Return a stored outcome; keys that are not known are ignored. Raise ValueError, KeyError or TypeError."""
    body = json.loads(text)
    return MachineOutcome(**{one.name: body[one.name] for one in fields(MachineOutcome) if one.name in body})
