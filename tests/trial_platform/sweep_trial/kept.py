"""Keeps in S3, below a run's output, what the service forgets of a training as soon as it has ended.

claim.json      whose the name is: the hash of the one request that may use it
begun.json      when the processes began; written once, so that a training begins once
outcome.json    how it ended, written before the service forgets it
log-0.txt       what its first instance has written; one a file for each instance
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound
from orchestrator.wire.names import S3Uri, canonical

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

CLAIM, BEGUN, OUTCOME = "claim.json", "begun.json", "outcome.json"


class Kept:
    """The objects of one training."""

    def __init__(self, clients: Clients, output: str, region: str, training: str) -> None:
        place = S3Uri.parse(output)
        self._s3 = S3(clients, region, place.bucket)
        self._prefix = f"{place.key}/trial/{region}/{training}/"

    def write(self, name: str, value: dict[str, Any]) -> bool:
        """Write an object, and return True; False if it was there already."""
        return self._s3.put_once(self._prefix + name, canonical(value).encode())

    def read(self, name: str) -> dict[str, Any] | None:
        """Return an object; None if there is none."""
        text = self.read_bytes(name)
        return None if text is None else json.loads(text)

    def write_log(self, instance: int, text: bytes) -> None:
        self._s3.put_once(f"{self._prefix}log-{instance}.txt", text)

    def read_log(self, instance: int) -> bytes | None:
        return self.read_bytes(f"log-{instance}.txt")

    def read_bytes(self, name: str) -> bytes | None:
        try:
            return self._s3.get(self._prefix + name).body
        except NotFound:
            return None
