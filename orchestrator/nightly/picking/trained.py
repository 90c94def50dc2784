"""What a workload has trained: one object for each of its runs, written when the run has ended.

workloads/<workload>/trained/<run>.json
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import Damaged
from orchestrator.wire.names import canonical
from orchestrator.wire.stored import VERSION, check_version, damage_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.aws.s3 import S3


def read_trained(s3: S3, workload: str) -> set[str]:
    """Return the keys of all tasks that this workload has trained. Damaged if a record cannot be understood."""
    keys: set[str] = set()
    for item in s3.list(f"workloads/{workload}/trained/"):
        try:
            keys.update(_read(s3, item.key))
        except Damaged as error:
            hint = "bring an earlier version of it back; or delete it, and what it names is trained again"
            raise Damaged(error.message, where=error.where, hint=hint) from error
    return keys


def _read(s3: S3, key: str) -> list[str]:
    stored = s3.get(key)
    with damage_named(s3.uri(key)):
        body = stored.json()
        check_version(body, "record of what was trained")
        found: list[str] = body["keys"]
        if not all(isinstance(one, str) for one in found):
            raise ValueError("its keys are no texts")
        return found


def record_trained(s3: S3, workload: str, run: str, keys: Iterable[str]) -> None:
    """Write down, once, what a run has trained."""
    body = {"version": VERSION, "run": run, "keys": sorted(keys)}
    s3.put_once(f"workloads/{workload}/trained/{run}.json", canonical(body).encode())
