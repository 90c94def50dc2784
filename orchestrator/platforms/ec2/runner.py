"""Trainings on bare EC2 instances, as they run: what happened stands in S3 before an instance goes."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.aws.logs import events
from orchestrator.aws.s3 import S3
from orchestrator.errors import (
    AccessError,
    AlreadyExists,
    InvalidRequest,
    NoCapacity,
    NotFound,
    QuotaExceeded,
    SweepError,
    Throttled,
    Unreachable,
)
from orchestrator.platforms.bare.assignment import LOG_GROUP, UNTOLD
from orchestrator.platforms.ec2.sent.refusals import read_refusal
from orchestrator.platforms.ec2.sent.request import HASH_TAG, make_request
from orchestrator.platforms.ec2.watching.bill import add_up, find_lives, spot_prices
from orchestrator.platforms.ec2.watching.console import last_words
from orchestrator.platforms.ec2.watching.ends import Ends
from orchestrator.platforms.ec2.watching.left import VERSION, Launched, Left, Words
from orchestrator.platforms.ec2.watching.machines import find_machines
from orchestrator.platforms.ec2.watching.outcome import Standing, stand
from orchestrator.platforms.ec2.zones import sites_now
from orchestrator.training.bare.telling.outcome import usage_of_all
from orchestrator.training.bare.together.leave import STOPPED, Verdict
from orchestrator.wire.names import S3Uri, canonical
from orchestrator.wire.result import Outcome, TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Request
    from orchestrator.platforms.ec2.watching.bill import Life
    from orchestrator.platforms.ec2.watching.machines import Machine
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template

_ENDING_S = 900.0
"""Seconds after which an end is not put off any longer, though an instance may still be shutting down."""


class Ec2Runner:
    """Runs trainings on bare instances: see `platforms.base.Runner` for what each method promises."""

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self._ends = Ends(clients)
        self._launched: dict[str, Launched] = {}
        """What is known to be launched, by Region, folder and training: it is written once, and never again."""

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        return make_request(template, task, place, attempt, max_runtime_s)

    def sites(self, template: Template, place: Place) -> Sequence[str]:
        return sites_now(self.clients, template, place)

    def start(self, request: Request) -> None:
        region, body = request.lane.region, request.body
        self._put_assignment(region, request)
        group = body["run"].get("Placement", {}).get("GroupName")
        if group:
            self._make_group(region, group, body["run"])
        try:
            with aws_errors(f"start the training {request.training}", where=region):
                launched = self.clients.client("ec2", region, once=True).run_instances(**body["run"])
        except SweepError as error:
            refusal = read_refusal(error)
            if group and isinstance(refusal, NoCapacity | InvalidRequest | AccessError):
                self._drop_group(region, group)
            raise refusal from error.__cause__
        ids = tuple(one["InstanceId"] for one in launched["Instances"])
        uri = S3Uri.parse(body["uri"])
        folder = uri.key.rpartition("/")[0]
        text = canonical({"version": VERSION, "ids": list(ids), "at": time.time(), "region": region}).encode()
        S3(self.clients, region, uri.bucket).put_once(f"{folder}/launched.json", text)

    def poll(self, attempt: Attempt) -> Outcome | None:
        try:
            return self._poll(attempt)
        except (Throttled, Unreachable):
            gone = self._gone(attempt)  # S3 may be away, and EC2 not
            if gone is None:
                raise
            return gone

    def _poll(self, attempt: Attempt) -> Outcome | None:
        left, region = Left(self.clients, attempt), attempt.lane.region
        try:
            ended = left.ended()
            if ended is not None:
                return ended if ended.lane.region == region else None
            # The instances first: what is gone by then has written its last word before.
            machines = self._machines(attempt)
            words, launched = left.words(), self._launched_for(attempt, left)
        except NotFound:  # not even a bucket
            return None
        if launched and launched.region != region:
            return None
        if machines and launched is None:
            began = min(one.launched_at for one in machines)
            launched = Launched(tuple(one.id for one in machines), began, region)
            left.remember_launch(launched)
        now = time.time()
        machines = self._ends.tell(attempt, machines, words.outcomes)
        standing = stand(attempt, machines, words, launched, now)
        if standing is None:
            return None
        standing = self._with_last_words(standing, region)
        if standing.tell:
            left.tell_all(standing.tell, "EC2")
        lives = find_lives(attempt, machines, words, launched, now)
        if standing.state.terminal and _is_ending(attempt, machines, lives, now):
            standing = Standing(TaskState.RUNNING)
        if not standing.state.terminal:  # what is really paid is known at its end, when the zone's prices are
            return _outcome(attempt, standing, lives, words, 0.0)
        prices = spot_prices(self.clients, attempt, lives)
        made = _outcome(attempt, standing, lives, words, add_up(attempt, lives, prices))
        first, used = words.outcomes.get(0), usage_of_all(list(words.outcomes.values()))
        if attempt.instances > 1:
            self._drop_group(attempt.lane.region, attempt.training)
        return left.remember_end(replace(made, artifact=first.artifact if first else "", metrics=used))

    def stop(self, attempt: Attempt) -> None:
        region, left = attempt.lane.region, Left(self.clients, attempt)
        try:
            if left.ended() is not None:
                return
            launched = left.launched()
        except NotFound:  # not even a bucket
            return
        alive = [machine.id for machine in self._machines(attempt) if machine.alive]
        if not alive and launched is None:
            return
        left.tell_all(Verdict(STOPPED, "it was asked to stop"), "sweep")
        # Those that were just launched may not be shown yet.
        ids = alive or list(launched.ids if launched else ())
        try:
            with aws_errors(f"stop the training {attempt.training}", where=region):
                self.clients.client("ec2", region).terminate_instances(InstanceIds=ids)
        except InvalidRequest as error:
            if not aws_code(error).startswith("InvalidInstanceID"):
                raise  # else they are gone, or not to be seen yet: whoever asks again finds out

    def logs(
        self,
        attempt: Attempt,
        template: Template,  # noqa: ARG002 (all logs of all runs lie in one group)
        after: dict[str, str],
        *,
        first_instance: bool = False,
    ) -> Iterator[tuple[str, str]]:
        streams = f"{attempt.training}/rank-0" if first_instance else f"{attempt.training}/"
        return events(self.clients, attempt.lane.region, LOG_GROUP, streams, after)

    def ended(self, region: str, run: str, since: float) -> Iterator[frozenset[str]]:
        states = ("instance-state-name", "shutting-down,terminated")
        for page in find_machines(self.clients, region, ("tag:sweep:run", run), states):
            yield frozenset(
                machine.tags["Name"]
                for machine in page
                if machine.tags.get("Name", "").startswith(f"{run}-")
                and (machine.ended_at is None or machine.ended_at >= since)
            )

    def _gone(self, attempt: Attempt) -> Outcome | None:
        """Return since when all instances of an attempt are gone, without asking S3; None if one may be there."""
        machines: list[Machine] = []
        with suppress(SweepError):
            machines = self._ends.tell(attempt, self._machines(attempt), ())
        if len(machines) < attempt.instances or any(machine.alive for machine in machines):
            return None
        lives = find_lives(attempt, machines, Words(), None, time.time())
        made = _outcome(attempt, Standing(TaskState.RUNNING), lives, Words(), 0.0)
        return replace(made, lost_at=max(life.ended_at for life in lives), waits_for=UNTOLD)

    def _launched_for(self, attempt: Attempt, left: Left) -> Launched | None:
        """Return which instances the attempt was given; None if nobody has written it down."""
        key = f"{attempt.lane.region}/{attempt.output}/{attempt.training}"
        known = self._launched.get(key) or left.launched()
        if known is not None:
            self._launched[key] = known
        return known

    def _with_last_words(self, standing: Standing, region: str) -> Standing:
        """Add to a standing what a machine that went without a word has left on its console."""
        if not standing.silent:
            return standing
        said = last_words(self.clients, region, standing.silent)
        more = f"; the last on its console: {said}" if said else "; EC2 shows nothing of its console"
        if standing.tell:
            return replace(standing, tell=Verdict(standing.tell.cause, standing.tell.reason + more))
        return replace(standing, reason=standing.reason + more)

    def _machines(self, attempt: Attempt) -> list[Machine]:
        """Return the instances of an attempt, by the hash of its request: it is in no other attempt's tags."""
        by_hash = (f"tag:{HASH_TAG}", attempt.request_hash)
        pages = find_machines(self.clients, attempt.lane.region, by_hash, ("tag:Name", attempt.training))
        found = sorted((machine for page in pages for machine in page), key=lambda machine: machine.index)
        self._ends.note(found)
        return found

    def _put_assignment(self, region: str, request: Request) -> None:
        """Put the assignment where the machines find it. AlreadyExists if another request has this name."""
        uri = S3Uri.parse(request.body["uri"])
        bucket = S3(self.clients, region, uri.bucket)
        text = canonical(request.body["assignment"]).encode()
        if not bucket.put_once(uri.key, text) and bucket.get(uri.key).body != text:
            raise AlreadyExists(
                f"the name {request.training} belongs to another training",
                where=region,
                hint="another run of this name works in this account: submit under another --name",
            )

    def _make_group(self, region: str, name: str, run: dict[str, Any]) -> None:
        """Make the placement group of a training, unless it is there."""
        tags = [{"ResourceType": "placement-group", "Tags": run["TagSpecifications"][0]["Tags"]}]
        try:
            with aws_errors(f"make the placement group {name}", where=region):
                client = self.clients.client("ec2", region, once=True)
                client.create_placement_group(GroupName=name, Strategy="cluster", TagSpecifications=tags)
        except SweepError as error:
            if aws_code(error) == "PlacementGroupLimitExceeded":
                raise QuotaExceeded(error.message, where=error.where, hint=error.hint) from error
            if aws_code(error) != "InvalidPlacementGroup.Duplicate":
                raise

    def _drop_group(self, region: str, name: str) -> None:
        """Remove the placement group of a training, if it is there and nothing is in it."""
        try:
            with aws_errors(f"remove the placement group {name}", where=region):
                self.clients.client("ec2", region).delete_placement_group(GroupName=name)
        except SweepError as error:
            if not aws_code(error).startswith("InvalidPlacementGroup"):
                raise


def _is_ending(attempt: Attempt, machines: Sequence[Machine], lives: Sequence[Life], now: float) -> bool:
    """Return whether the end has to wait: a placement group can only be removed once nothing is in it."""
    if attempt.instances == 1 or all(machine.state == "terminated" for machine in machines):
        return False
    return now < max((life.ended_at for life in lives), default=now) + _ENDING_S


def _outcome(attempt: Attempt, standing: Standing, lives: Sequence[Life], words: Words, usd: float) -> Outcome:
    """Return the outcome: an instance is billed for its whole life, and trains for a part of it."""
    over = standing.state.terminal
    began = min((life.began_at for life in lives), default=None)
    ended = max((life.ended_at for life in lives), default=None)
    seconds = max(ended - began, 0.0) if began is not None and ended is not None else 0.0
    if over and words.outcomes and ended is not None:
        # By its own clock a machine worked so long: what else it lived was its start, and its end.
        worked = max(one.ended_at - one.started_at for one in words.outcomes.values())
        seconds = min(max(worked, 0.0), seconds)
        began = ended - seconds
    return Outcome(
        number=attempt.number,
        lane=attempt.lane,
        training=attempt.training,
        state=standing.state,
        cause=standing.cause,
        reason=standing.reason,
        seconds=seconds,
        billable_s=max((life.billed_s for life in lives), default=0.0) if over else 0.0,
        usd=usd,
        instances=attempt.instances,
        started_at=began if standing.state is not TaskState.STARTING else None,
        ended_at=ended if over else None,
        site=", ".join(sorted({life.zone for life in lives if life.zone})),
    )
