"""Makes what is sent for one attempt, and sends nothing: a claim and an assignment for S3, a Job, and its Service.

A dry run prints it, and a restarted launcher makes the very same again.
"""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.errors import InvalidRequest
from orchestrator.platforms.bare.assignment import make_assignment
from orchestrator.platforms.base import Request
from orchestrator.platforms.eks.kube.queues import LABEL as QUEUE
from orchestrator.platforms.eks.sent.manifests import END_GRACE_S, labels, make_job, make_service
from orchestrator.platforms.eks.sent.words import HASH, LANE, OUTPUT, TAGS, service_name
from orchestrator.training.starter.machine import ORDER, decode
from orchestrator.wire.names import canonical, digest
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from orchestrator.training.bare.assignment import Assignment
    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template

_LEAVES_S = 30
"""Seconds of a pod's grace that are kept for its last words, after the training's own process has had the rest."""
_MEET_S = 900


def make_request(template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
    """Return the request: what all tasks share, and what this task, its place and its attempt add."""
    body = template.body
    check_place(place, body["cluster"])
    meet_s = float(max(task.limits.patience_s, _MEET_S))
    more: dict[str, Any] = {"kind": "pod", "grace_s": float(END_GRACE_S - _LEAVES_S), "meet_s": meet_s}
    assignment = make_assignment(template, task, place, attempt, max_runtime_s, **more)
    least = min(body["least"], place.instances)
    if least:
        assignment = make_elastic(assignment, least)
    told = canonical(assignment.to_json())
    where = (f"{assignment.output}/assignment.json", hashlib.sha256(told.encode()).hexdigest())
    job = make_job(assignment, where, body, place, task.limits.patience_s)
    service = make_service(assignment.training, body["namespace"])
    marks = labels(template.run, task.number, attempt)
    own = {**marks, **({QUEUE: body["queue"]} if body["queue"] else {})}
    job["metadata"]["labels"] = own
    job["spec"]["template"]["metadata"]["labels"] = marks
    service["metadata"]["labels"] = marks
    tags = template.tags_of(task.number, attempt)
    annotations = {LANE: str(place.lane), OUTPUT: template.output, TAGS: canonical(tags)}
    job["metadata"]["annotations"] = annotations
    # Whose they are can be told of pods and of the Service even where their Job is gone.
    job["spec"]["template"]["metadata"]["annotations"] = {name: annotations[name] for name in (OUTPUT, TAGS)}
    service["metadata"]["annotations"] = {OUTPUT: annotations[OUTPUT]}
    claim = {
        "version": 1,
        "cluster": body["cluster"],
        "namespace": body["namespace"],
        "instances": place.instances,
        "patience_s": task.limits.patience_s,
        "least": least,
        "tags": tags,
    }
    sent: dict[str, Any] = {"claim": claim, "assignment": assignment.to_json(), "job": job, "service": service}
    content = digest(sent)
    sent["claim"] = {**claim, "hash": content}
    job["metadata"]["annotations"] = {**annotations, HASH: content}
    return Request(place.lane, assignment.training, sent, content, "CreateJob", _starter(assignment))


def make_elastic(assignment: Assignment, least: int) -> Assignment:
    """Return an assignment whose machines come and go: they have names of their own, and so many are enough."""
    names = tuple(f"{assignment.training}-{n}.{service_name(assignment.training)}" for n in range(assignment.instances))
    order = {**decode(assignment.hyperparameters[ORDER]), "least": least}
    hyperparameters = {**assignment.hyperparameters, ORDER: canonical(order)}
    return replace(assignment, least=least, names=names, hyperparameters=hyperparameters)


def check_place(place: Place, cluster: str) -> None:
    """Raise InvalidRequest for a place that is bought otherwise than its site says."""
    committed = place.lane.purchase is Purchase.COMMITTED
    if committed != bool(place.site) or (place.site and not place.site.endswith(f":cluster/{cluster}")):
        found = f"the site {place.site}" if place.site else "no site"
        raise InvalidRequest(
            f"a place bought as {place.lane.purchase.value} comes with {found}",
            where=str(place.lane),
            hint=f"what is committed is the cluster {cluster}, by its ARN: mend the commitments, and plan again",
        )


def _starter(assignment: Assignment) -> str:
    """Say, for the dry run, who starts the processes, and with which words."""
    order = decode(assignment.hyperparameters[ORDER])
    return f"the starter, in a bare pod: {shlex.join(order['command'])}"
