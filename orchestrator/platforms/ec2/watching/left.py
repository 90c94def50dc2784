"""What lies in S3 of an attempt: what its machines have written, and what we remember of it ourselves.

assignment.json             what each machine is told, put once before anything is launched
launched.json               which instances there are, put once by whoever knows first
machines/<i>/here.json      machine i is up
machines/<i>/outcome.json   how machine i ended
leave.json                  all machines are to leave, and why
ended.json                  how the attempt ended, put once by whoever sees it first: it is asked before EC2 is
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.aws.s3 import S3
from orchestrator.errors import CloudError, NotFound
from orchestrator.platforms.bare.assignment import attempt_folder
from orchestrator.training.bare.telling.outcome import MachineOutcome, outcome_uri, read_machine_outcome
from orchestrator.training.bare.together.leave import Verdict, leave_body, leave_uri, read_leave
from orchestrator.wire.names import S3Uri
from orchestrator.wire.result import Outcome

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.wire.result import Attempt

VERSION = 1


@dataclass(frozen=True)
class Launched:
    """The instances that an attempt was given."""

    ids: tuple[str, ...]
    at: float
    """Seconds since the epoch."""
    region: str


@dataclass(frozen=True)
class Words:
    """What the machines of an attempt have said so far."""

    here: frozenset[int] = frozenset()
    """The machines that are up, or were."""
    outcomes: dict[int, MachineOutcome] = field(default_factory=dict)
    leave: Verdict | None = None
    told_at: dict[int, float] = field(default_factory=dict)
    """When S3 took each outcome, by its own clock: a machine tries again while it does not, and goes after that."""


class Left:
    """The folder of one attempt in S3."""

    def __init__(self, clients: Clients, attempt: Attempt) -> None:
        self._folder = attempt_folder(attempt.output, attempt.training)
        self._uri = S3Uri.parse(self._folder)
        self._bucket = S3(clients, attempt.lane.region, self._uri.bucket)

    def ended(self) -> Outcome | None:
        """Return how the attempt ended; None while nobody has seen its end."""
        body = self._read("ended.json")
        return Outcome.from_json(body) if body else None

    def remember_end(self, outcome: Outcome) -> Outcome:
        """Write down how the attempt ended, and return what holds: the first one that was written."""
        if not self._put("ended.json", outcome.to_json()):
            return self.ended() or outcome
        return outcome

    def launched(self) -> Launched | None:
        """Return which instances the attempt was given; None if nobody has written it down."""
        body = self._read("launched.json")
        return Launched(tuple(body["ids"]), float(body["at"]), body["region"]) if body else None

    def remember_launch(self, launched: Launched) -> None:
        """Write down which instances there are, unless that is known."""
        self._put("launched.json", asdict(launched))

    def words(self) -> Words:
        """Return what the machines have said so far."""
        keys = {one.key: one.modified_at for one in self._bucket.list(f"{self._uri.key}/")}
        folder = f"{self._uri.key}/machines/"
        numbers = {key[len(folder) :].partition("/")[0] for key in keys if key.startswith(folder)}
        machines = sorted(int(number) for number in numbers if number.isdecimal())
        outcomes, told_at = {}, {}
        for index in machines:
            key = S3Uri.parse(outcome_uri(self._folder, index)).key
            if key in keys:
                outcomes[index], told_at[index] = self._outcome(key), keys[key]
        leave = S3Uri.parse(leave_uri(self._folder)).key
        told = read_leave(self._bucket.get(leave).body) if leave in keys else None
        return Words(frozenset(machines), outcomes, told, told_at)

    def tell_all(self, verdict: Verdict, by: str) -> None:
        """Tell all machines to leave, unless they have been told."""
        self._bucket.put_once(S3Uri.parse(leave_uri(self._folder)).key, leave_body(verdict, by))

    def _outcome(self, key: str) -> MachineOutcome:
        try:
            return read_machine_outcome(self._bucket.get(key).body)
        except (ValueError, KeyError, TypeError) as error:
            raise CloudError(f"not how a machine ended: {error}", where=self._bucket.uri(key)) from error

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            body: dict[str, Any] = json.loads(self._bucket.get(f"{self._uri.key}/{name}").body)
        except NotFound:
            return None
        return body

    def _put(self, name: str, body: dict[str, Any]) -> bool:
        text = json.dumps({**body, "version": VERSION}).encode()
        return self._bucket.put_once(f"{self._uri.key}/{name}", text)
