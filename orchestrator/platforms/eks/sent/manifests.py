"""The two objects of an attempt, as values: an Indexed Job with a pod for each instance, and a headless Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.platforms.eks.kube.nodes import SPOT_LABELS, TYPE
from orchestrator.platforms.eks.sent.amounts import GPU, amounts
from orchestrator.platforms.eks.sent.words import ATTEMPT, CONTAINER, JOB_NAME, RUN, TASK, service_name
from orchestrator.training.bare.stub import make_stub
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from orchestrator.training.bare.assignment import Assignment
    from orchestrator.wire.task import Lane, Place

Body = dict[str, Any]

_LEFT = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
"""A pod whose node is taken away ends the Job, and its condition tells why."""
_COMES_BACK = {**_LEFT, "action": "Ignore"}
"""A pod whose node is taken away is made again, and the others go on."""
_SLACK_S = 1800
"""Seconds besides its own that a Job has for pulling the image, and for what it leaves behind."""
ALLOWANCE_S = 600
"""Seconds that a pod runs beyond its training's longest run, at the most: its script has a grace after SIGTERM, and the
model goes to S3. Envelopes count them."""
_BEGINS_S = 30
"""The part of them before its process counts, and after it has ended."""
END_GRACE_S = 120
"""Seconds that a pod has after SIGTERM: as many as before a spot instance goes."""


def paid_s(max_runtime_s: int, allowance_s: int | None) -> int:
    """Return the seconds for which a training's pods are paid at the most."""
    return max_runtime_s + (ALLOWANCE_S if allowance_s is None else allowance_s)


def make_job(assignment: Assignment, where: tuple[str, str], body: Body, place: Place, patience_s: int) -> Body:
    """Return the Job. `where` is the assignment's address, and its digest; `body` is the template's.

    Its metadata lacks labels and annotations, which name the whole request.
    """
    training, several = assignment.training, assignment.instances
    spec: Body = {
        "completionMode": "Indexed",
        "completions": several,
        "parallelism": several,
        "backoffLimit": 0,
        "podReplacementPolicy": "Failed",
        # A last resort, which also counts the time before a pod begins: `training/bare` keeps the training's own.
        "activeDeadlineSeconds": assignment.max_runtime_s + patience_s + _SLACK_S,
        "podFailurePolicy": {"rules": [_COMES_BACK if assignment.least else _LEFT]},
        "template": {"metadata": {}, "spec": _pod(assignment, where, body, place)},
    }
    if assignment.least:
        spec["successPolicy"] = {"rules": [{"succeededIndexes": "0"}]}
    if body["queue"]:
        spec["suspend"] = True  # Kueue lets it begin
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": training, "namespace": body["namespace"]},
        "spec": spec,
    }


def make_service(training: str, namespace: str) -> Body:
    """Return the Service by which the pods of a Job have names. Its owner is not known before the Job is there."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": service_name(training), "namespace": namespace},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {JOB_NAME: training},
        },
    }


def labels(run: str, task: int, attempt: int) -> dict[str, str]:
    """Return the labels of a Job, its pods and its Service."""
    return {RUN: run, TASK: str(task), ATTEMPT: str(attempt)}


def _pod(assignment: Assignment, where: tuple[str, str], body: Body, place: Place) -> Body:
    lane, ends_s = place.lane, max(paid_s(assignment.max_runtime_s, place.allowance_s) - _BEGINS_S, 1)
    asked = amounts(lane.instance_type, body["efa"])
    tolerations = list(body["tolerations"])
    if GPU in asked.get("limits", {}):
        tolerations.append({"key": GPU, "operator": "Exists", "effect": "NoSchedule"})
    volumes, mounts = _volumes(body)
    address, digest = where
    pod: Body = {
        "restartPolicy": "Never",
        "subdomain": service_name(assignment.training),
        "terminationGracePeriodSeconds": END_GRACE_S,
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _nodes(lane)}},
        "containers": [
            {
                "name": CONTAINER,
                "image": body["image"],
                "command": ["python3", "-c", make_stub("pod"), assignment.sources, address, digest],
                "env": [
                    {"name": "AWS_REGION", "value": assignment.region},
                    {"name": "PYTHONUNBUFFERED", "value": "1"},
                    {"name": "SWEEP_ENDS_S", "value": str(ends_s)},
                    {"name": "SWEEP_ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                ],
                "resources": asked,
                "volumeMounts": mounts,
            }
        ],
        "volumes": volumes,
        "tolerations": tolerations,
    }
    if body["service_account"]:
        pod["serviceAccountName"] = body["service_account"]
    if body["node_selector"]:
        pod["nodeSelector"] = body["node_selector"]
    return pod


def _nodes(lane: Lane) -> Body:
    """Return which nodes a lane stands for. What was committed may be any of them; no spot label means on demand."""
    of_type = {"key": TYPE, "operator": "In", "values": [lane.instance_type]}
    if lane.purchase is Purchase.COMMITTED:
        return {"nodeSelectorTerms": [{"matchExpressions": [of_type]}]}
    if lane.purchase is Purchase.SPOT:
        spot = [{"key": key, "operator": "In", "values": [value]} for key, value in SPOT_LABELS]
        return {"nodeSelectorTerms": [{"matchExpressions": [of_type, each]} for each in spot]}
    bought = [{"key": key, "operator": "NotIn", "values": [value]} for key, value in SPOT_LABELS]
    return {"nodeSelectorTerms": [{"matchExpressions": [of_type, *bought]}]}


def _volumes(body: Body) -> tuple[list[Body], list[Body]]:
    """Return a pod's volumes, and where they are mounted: memory that processes share, and what is claimed."""
    memory: Body = {"medium": "Memory"}
    if body["shm_gb"]:
        memory["sizeLimit"] = f"{body['shm_gb']}Gi"
    volumes: list[Body] = [{"name": "shm", "emptyDir": memory}]
    mounts: list[Body] = [{"name": "shm", "mountPath": "/dev/shm"}]
    for name, volume in sorted(body["volumes"].items()):
        volumes.append({"name": name, "persistentVolumeClaim": {"claimName": volume["claim"]}})
        mounts.append({"name": name, "mountPath": volume["path"], "readOnly": volume["read_only"]})
    return volumes, mounts
