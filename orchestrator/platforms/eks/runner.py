"""Trainings as Jobs of Kubernetes in clusters of EKS. What happened stands in S3, whatever the cluster still knows."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orchestrator.aws.logs import events
from orchestrator.errors import AccessError, NotFound, SweepError, Throttled, Unreachable
from orchestrator.platforms.bare.assignment import LOG_GROUP
from orchestrator.platforms.eks.bill import at_spot_price
from orchestrator.platforms.eks.kept import Kept
from orchestrator.platforms.eks.kube.api import JOBS
from orchestrator.platforms.eks.kube.clusters import Clusters
from orchestrator.platforms.eks.look import Look, end_without_cluster
from orchestrator.platforms.eks.sent.begin import begin
from orchestrator.platforms.eks.sent.request import make_request
from orchestrator.platforms.eks.zones import Zones
from orchestrator.training.bare.together.leave import INTERRUPTED, STOPPED
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Request
    from orchestrator.wire.result import Attempt, Outcome
    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template


class EksRunner:
    """Runs trainings as Jobs of EKS clusters: see `platforms.base.Runner` for what each method promises."""

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self._clusters = Clusters(clients)
        self._zones = Zones()
        self._claims: dict[str, dict[str, Any]] = {}
        """The claims of trainings that were found, by their names: for looks while S3 is away."""

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        return make_request(template, task, place, attempt, max_runtime_s)

    def start(self, request: Request) -> None:
        output = request.body["job"]["metadata"]["annotations"]["sweep.output"]
        region = request.lane.region
        try:
            begin(request, self._clusters, Kept(self.clients, output, region, request.training))
        except Unreachable:
            self._clusters.forget(region, request.body["claim"]["cluster"])
            raise

    def poll(self, attempt: Attempt) -> Outcome | None:
        try:
            return self._poll(attempt)
        except (Throttled, Unreachable):
            gone = self._gone(attempt)  # S3 may be away, and the cluster not
            if gone is None:
                raise
            return gone

    def _poll(self, attempt: Attempt) -> Outcome | None:
        kept = self._kept(attempt)
        if ended := kept.end():
            return ended
        claim = kept.claim()
        if claim is None:
            return None
        self._claims[attempt.training] = claim
        region, cluster = attempt.lane.region, str(claim["cluster"])
        try:
            api = self._clusters.open(region, cluster)
        except NotFound:
            return self._end_with_cluster(attempt, claim, kept)
        try:
            look = Look(attempt, claim, api, kept)
            outcome = look.outcome()
            if attempt.lane.purchase is Purchase.SPOT:
                self._zones.note(attempt.training, look.pods, api)
        except Unreachable:
            self._clusters.forget(region, cluster)
            raise
        if outcome is not None and outcome.state.terminal:
            outcome = at_spot_price(self.clients, attempt, outcome, self._zones.of(attempt.training))
            kept.put_end(outcome)
            with suppress(NotFound, AccessError):  # whoever only looks leaves it to others to clear away
                api.delete(JOBS, claim["namespace"], attempt.training)
            return kept.end() or outcome
        return outcome

    def _gone(self, attempt: Attempt) -> Outcome | None:
        """Return since when all pods of an attempt are gone, without asking S3; None if nobody can say so."""
        claim = self._claims.get(attempt.training)
        if claim is None:
            return None
        region, cluster = attempt.lane.region, str(claim["cluster"])
        try:
            return Look(attempt, claim, self._clusters.open(region, cluster), self._kept(attempt)).gone()
        except SweepError:
            self._clusters.forget(region, cluster)
            return None

    def _end_with_cluster(self, attempt: Attempt, claim: dict[str, Any], kept: Kept) -> Outcome | None:
        """Return how a training has ended whose cluster is gone; None if it was never begun there.

        Nodes of the team's own may outlive their cluster for a moment, with pods: these are told to leave.
        """
        if not kept.has_begun():
            return None
        kept.ask_to_leave(INTERRUPTED, f"the cluster {claim['cluster']} is gone")
        ended = end_without_cluster(attempt, claim, kept)
        outcome = at_spot_price(self.clients, attempt, ended, self._zones.of(attempt.training))
        kept.put_end(outcome)
        return kept.end() or outcome

    def stop(self, attempt: Attempt) -> None:
        outcome = self.poll(attempt)
        if outcome is None or outcome.state.terminal:
            return
        kept = self._kept(attempt)
        claim = kept.claim() or {}
        kept.ask_to_leave(STOPPED, "it was stopped")
        with suppress(NotFound):  # it has gone by itself
            self._clusters.open(attempt.lane.region, claim["cluster"]).delete(
                JOBS, claim["namespace"], attempt.training
            )

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

    def ended(self, region: str, run: str, since: float) -> Iterator[frozenset[str]]:  # noqa: ARG002
        # A runner does not know which clusters a run uses: each attempt's claim says it.
        return iter(())

    def _kept(self, attempt: Attempt) -> Kept:
        return Kept(self.clients, attempt.output, attempt.lane.region, attempt.training)
