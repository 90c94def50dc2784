"""The assignment: what a machine is told of its training. It is the same for all machines of an attempt.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

VERSION = 1


class BadAssignment(Exception):
    """The assignment is not what a machine can work by."""


@dataclass(frozen=True)
class Channel:
    """A folder of data: what lies below a prefix of S3, or what a manifest there lists."""

    uri: str
    manifest: bool = False
    """The address is that of a manifest, as SageMaker's ManifestFile: `[{"prefix": "s3://..."}, "a", "b"]`."""
    sharded: bool = False
    """Each machine gets every n-th object only."""


@dataclass(frozen=True)
class Assignment:
    """A training, as one machine of it needs to know it."""

    training: str
    """Its name: run, task and attempt."""
    region: str
    output: str
    """The S3 prefix of this attempt, without a slash at its end."""
    sources: str = ""
    """The S3 address of the packed sources; empty if the training has none."""
    channels: dict[str, Channel] = field(default_factory=dict)
    hyperparameters: dict[str, str] = field(default_factory=dict)
    """What the starter takes: `sweep_start` among them says what to start, and how (`training/starter/machine.py`)."""
    environment: dict[str, str] = field(default_factory=dict)
    instances: int = 1
    instance_type: str = ""
    max_runtime_s: int = 86_400
    checkpoints: str = ""
    """The S3 prefix that the folder of checkpoints is kept like; empty if there are none."""
    checkpoint_folder: str = "/opt/ml/checkpoints"
    log_group: str = ""
    """The group of CloudWatch Logs that the log goes to; empty if it goes to standard output only."""
    kind: str = "instance"
    """`instance` asks the instance's metadata who and where it is, and for notices; `pod` asks nobody."""
    image: str = ""
    """The container image to run the starter in, by Docker on this machine; empty to run it as it is."""
    path: tuple[str, ...] = ("/opt/pytorch/bin", "/opt/conda/bin")
    """Folders that go ahead of PATH where they are there: an AMI's own Python."""
    look_s: float = 5.0
    """Seconds between two looks: for a notice, for `leave.json`, at the folder of checkpoints."""
    grace_s: float = 120.0
    """Seconds that the training has to end by itself after SIGTERM."""
    meet_s: float = 900.0
    """Seconds for which machines wait for each other."""
    names: tuple[str, ...] = ()
    """The names of all machines, in their order, where their platform gives them names: then none waits for another."""
    least: int = 0
    """The number of machines that are enough to train, where one that is lost comes back; 0 if all are needed."""

    def to_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        body: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        channels = {name: dict(vars(channel)) for name, channel in self.channels.items()}
        return {**body, "channels": channels, "path": list(self.path), "names": list(self.names), "version": VERSION}


def read_assignment(text: bytes) -> Assignment:
    """Return a stored assignment; keys that are not known are ignored. Raise BadAssignment for what is none."""
    try:
        body = json.loads(text)
        if body["version"] > VERSION:
            raise BadAssignment(
                f"the assignment is of version {body['version']}, and {VERSION} is the newest known here"
            )
        known = {one.name: body[one.name] for one in fields(Assignment) if one.name in body}
        channels = {
            name: Channel(**{one.name: channel[one.name] for one in fields(Channel) if one.name in channel})
            for name, channel in known.get("channels", {}).items()
        }
        path = tuple(known.get("path", Assignment.path))
        return Assignment(**{**known, "channels": channels, "path": path, "names": tuple(known.get("names", ()))})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadAssignment(f"the assignment cannot be read: {type(error).__name__}: {error}") from error
