"""Starts, watches and stops trainings: all that a launcher needs of this platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import AlreadyExists, InvalidRequest
from orchestrator.platforms.base import Request
from orchestrator.wire.names import digest, training_name
from orchestrator.wire.result import Cause, Outcome, TaskState
from orchestrator.wire.task import Purchase

from sweep_trial.desk import Desk
from sweep_trial.kept import BEGUN, CLAIM, OUTCOME, Kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template

PAID_OF_SPOT = 0.5
"""The part of a spot lane's rate that is billed: the market is never as dear as the most that it may cost."""


class TrialRunner:
    """Runs trainings as processes of this machine: see `platforms.base.Runner` for what each method promises."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        lane = place.lane
        if lane.purchase is Purchase.COMMITTED or place.site:
            raise InvalidRequest("the trial platform has no reservations", where=str(lane))
        name = training_name(template.run, task.number, attempt)
        body: dict[str, Any] = {
            **template.body,
            "name": name,
            "type": lane.instance_type,
            "spot": lane.purchase is Purchase.SPOT,
            "instances": place.instances,
            "data": place.s3_uri,
            "output": template.output,
            "point": task.point,
            "max_runtime_s": max_runtime_s,
        }
        tags = {
            **template.tags,
            "sweep:run": template.run,
            "sweep:task": str(task.number),
            "sweep:attempt": str(attempt),
            "sweep:owner": template.owner,
        }
        hash_ = digest({**body, "tags": tags})
        return Request(lane, name, {**body, "tags": {**tags, "sweep:request-hash": hash_}}, hash_, "RunProcesses")

    def start(self, request: Request) -> None:
        region, name = request.lane.region, request.training
        kept = Kept(self._clients, request.body["output"], region, name)
        if not kept.write(CLAIM, {"hash": request.hash}) and kept.read(CLAIM) != {"hash": request.hash}:
            raise AlreadyExists(f"the name {name} belongs to another training", where=region)
        # Whoever claimed the name may have died before this line. To hand a training in twice is harmless.
        if kept.read(BEGUN) is None:
            Desk(region).hand_in(request.body)

    def poll(self, attempt: Attempt) -> Outcome | None:
        kept = self._kept(attempt)
        # First, for what is no longer waiting has begun, and what has begun says so before it stops waiting.
        waits = Desk(attempt.lane.region).waits(attempt.training)
        ended = kept.read(OUTCOME)
        if ended is not None:
            return self._outcome(attempt, ended)
        begun = kept.read(BEGUN)
        if begun is not None:
            return self._outcome(attempt, {"state": "running", **begun})
        return self._outcome(attempt, {"state": "starting"}) if waits else None

    def stop(self, attempt: Attempt) -> None:
        outcome = self.poll(attempt)
        if outcome is not None and not outcome.state.terminal:
            Desk(attempt.lane.region).ask_to_stop(attempt.training)

    def logs(
        self, attempt: Attempt, template: Template, after: dict[str, str], *, first_instance: bool = False
    ) -> Iterator[tuple[str, str]]:
        for instance in range(1 if first_instance else attempt.instances):
            stream = f"{attempt.training}/{instance}"
            running = Desk(attempt.lane.region).log(attempt.training, instance)
            text = running if running is not None else self._kept(attempt).read_log(instance) or b""
            seen = int(after.get(stream, 0))
            for line in text[seen:].splitlines(keepends=True):
                if running is not None and not line.endswith(b"\n"):
                    break  # the rest of this line is still to come
                seen += len(line)
                after[stream] = str(seen)
                yield stream, line.decode(errors="replace").rstrip("\r\n")

    def ended(self, region: str, run: str, since: float) -> Iterator[frozenset[str]]:
        return iter(())

    def _kept(self, attempt: Attempt) -> Kept:
        return Kept(self._clients, attempt.output, attempt.lane.region, attempt.training)

    def _outcome(self, attempt: Attempt, said: dict[str, Any]) -> Outcome:
        seconds = float(said.get("seconds", 0.0))
        part = PAID_OF_SPOT if attempt.lane.purchase is Purchase.SPOT else 1.0
        return Outcome(
            number=attempt.number,
            lane=attempt.lane,
            training=attempt.training,
            state=TaskState(said["state"]),
            cause=Cause(said.get("cause", "")),
            reason=said.get("reason", ""),
            seconds=seconds,
            billable_s=seconds,
            usd=seconds / 3600 * attempt.rate * part * attempt.instances,
            instances=attempt.instances,
            started_at=said.get("started_at"),
            ended_at=said.get("ended_at"),
        )
