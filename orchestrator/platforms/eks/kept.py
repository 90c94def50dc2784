"""What is kept in S3 of one training, below its output: its Job may be gone long before anybody asks.

claim-<region>.json   whose the name is, and in which cluster: written before anything is made there
begun-<region>.json   that its Job has been there
ended-<region>.json   how it ended: written once, before its Job is removed
assignment.json, leave.json, machines/      what its pods are told, and what they tell: see `training/bare`
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from orchestrator.aws.s3 import S3
from orchestrator.errors import Damaged, NotFound
from orchestrator.platforms.bare.assignment import attempt_folder
from orchestrator.training.bare.telling.outcome import outcome_uri, read_machine_outcome
from orchestrator.training.bare.together.leave import Verdict, leave_body, leave_uri, read_leave
from orchestrator.training.bare.together.meet import read_since, word_uri
from orchestrator.wire.names import S3Uri, canonical
from orchestrator.wire.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.session import Clients
    from orchestrator.training.bare.telling.outcome import MachineOutcome

_AT_ONCE = 8


class Kept:
    """The objects of one training in one Region."""

    def __init__(self, clients: Clients, output: str, region: str, training: str) -> None:
        self._folder = attempt_folder(output, training)
        self._region = region
        self._s3 = S3(clients, region, S3Uri.parse(output).bucket)

    def put_claim(self, claim: dict[str, Any]) -> dict[str, Any]:
        """Write the claim, unless there is one; return the one that is there now."""
        if self._put(f"claim-{self._region}.json", claim):
            return claim
        return self.claim() or claim

    def claim(self) -> dict[str, Any] | None:
        """Return the claim; None when nobody has begun to start the training in this Region."""
        return self._read(f"claim-{self._region}.json")

    def put_assignment(self, assignment: dict[str, Any]) -> None:
        self._put("assignment.json", assignment)

    def put_begun(self) -> None:
        self._put(f"begun-{self._region}.json", {"version": 1})

    def has_begun(self) -> bool:
        return self._read(f"begun-{self._region}.json") is not None

    def put_end(self, outcome: Outcome) -> None:
        self._put(f"ended-{self._region}.json", {**outcome.to_json(), "version": 1})

    def end(self) -> Outcome | None:
        """Return how the training ended, if that has been written down."""
        found = self._read(f"ended-{self._region}.json")
        return None if found is None else Outcome.from_json(found)

    def ask_to_leave(self, cause: str, reason: str) -> None:
        """Tell all machines to leave, and whoever asks later why; unless they have been told already."""
        self._s3.put_once(S3Uri.parse(leave_uri(self._folder)).key, leave_body(Verdict(cause, reason), "sweep"))

    def leave(self) -> Verdict | None:
        """Return why all machines are to leave; None while they are not."""
        text = self._bytes(S3Uri.parse(leave_uri(self._folder)).key)
        return None if text is None else read_leave(text)

    def machines(self, instances: int) -> list[MachineOutcome | None]:
        """Return how each machine ended; None for one that has not said so."""
        words = self._read_all(lambda index: outcome_uri(self._folder, index), instances)
        return [None if word is None else read_machine_outcome(word) for word in words]

    def arrivals(self, instances: int) -> tuple[float, ...]:
        """Return when each machine began that has left word where it is to be found."""
        words = self._read_all(lambda index: word_uri(self._folder, index), instances)
        return tuple(read_since(word) for word in words if word is not None)

    def _read_all(self, uri: Callable[[int], str], instances: int) -> list[bytes | None]:
        """Return what lies at each machine's address; None where nothing does."""
        with ThreadPoolExecutor(min(instances, _AT_ONCE)) as pool:
            return list(pool.map(lambda index: self._bytes(S3Uri.parse(uri(index)).key), range(instances)))

    def _put(self, name: str, value: dict[str, Any]) -> bool:
        return self._s3.put_once(self._key(name), canonical(value).encode())

    def _read(self, name: str) -> dict[str, Any] | None:
        text = self._bytes(self._key(name))
        if text is None:
            return None
        try:
            found: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise Damaged(f"{self._s3.uri(self._key(name))} is no JSON", where=self._region) from error
        return found

    def _key(self, name: str) -> str:
        return f"{S3Uri.parse(self._folder).key}/{name}"

    def _bytes(self, key: str) -> bytes | None:
        try:
            return self._s3.get(key).body
        except NotFound:
            return None
