"""A pod: how it is made from a Job's template, and how its status changes until it ends."""

from __future__ import annotations

import copy
import secrets
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.quantities import quantity

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]

JOB_NAME = "batch.kubernetes.io/job-name"
JOB_UID = "batch.kubernetes.io/controller-uid"
INDEX = "batch.kubernetes.io/job-completion-index"
DISRUPTED = "DisruptionTarget"
GRACE_S = 30
"""Seconds between SIGTERM and SIGKILL, for a pod that does not say."""


def make_pod(job: Body, index: int | None) -> Body:
    """Return a new pod of a Job, of one of its indexes if it has any."""
    template = copy.deepcopy(job["spec"]["template"])
    meta, spec = template.get("metadata") or {}, template["spec"]
    name, uid = job["metadata"]["name"], job["metadata"]["uid"]
    labels = {**meta.get("labels", {}), JOB_NAME: name, "job-name": name, JOB_UID: uid, "controller-uid": uid}
    annotations = dict(meta.get("annotations") or {})
    middle = ""
    if index is not None:
        labels[INDEX] = annotations[INDEX] = str(index)
        middle = f"{index}-"
        spec["hostname"] = f"{name}-{index}"
        for container in spec["containers"]:
            given = {
                "name": "JOB_COMPLETION_INDEX",
                "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}},
            }
            container["env"] = [*(container.get("env") or ()), given]
    return {
        "metadata": {
            "name": f"{name}-{middle}{secrets.token_hex(3)[:5]}",
            "namespace": job["metadata"]["namespace"],
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [
                {
                    "apiVersion": job["apiVersion"],
                    "kind": job["kind"],
                    "name": name,
                    "uid": uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": spec,
        "status": {"phase": "Pending", "conditions": []},
    }


def requests_of(spec: Body) -> dict[str, Fraction]:
    """Return what all containers of a pod ask for together."""
    found: dict[str, Fraction] = {}
    for container in spec["containers"]:
        resources = container.get("resources") or {}
        asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
        for name, value in asked.items():
            found[name] = found.get(name, Fraction(0)) + quantity(value)
    return found


def has_ended(pod: Body) -> bool:
    return pod["status"]["phase"] in ("Succeeded", "Failed")


def is_going(pod: Body) -> bool:
    """Say whether somebody has asked for its end."""
    return "deletionTimestamp" in pod["metadata"]


def index_of(pod: Body) -> int | None:
    """Return the index of a pod in its Job; None if the Job has none."""
    text = pod["metadata"].get("labels", {}).get(INDEX)
    return None if text is None else int(text)


def host_of(pod: Body) -> str:
    """Return the name that the pod knows itself by."""
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])


def set_condition(body: Body, kind: str, value: bool, now: str, reason: str = "", message: str = "") -> None:
    """Set a condition of an object's status."""
    conditions = body["status"].setdefault("conditions", [])
    condition = {"type": kind, "status": str(value), "lastTransitionTime": now}
    condition |= {name: text for name, text in (("reason", reason), ("message", message)) if text}
    before = next((each for each in conditions if each["type"] == kind), None)
    if before is None:
        conditions.append(condition)
        return
    if before["status"] == condition["status"]:
        condition["lastTransitionTime"] = before["lastTransitionTime"]
    conditions[conditions.index(before)] = condition


def has_condition(body: Body, kind: str, value: str = "True") -> bool:
    conditions = body["status"].get("conditions", ())
    return any((each["type"], each["status"]) == (kind, value) for each in conditions)


def waiting(pod: Body, reason: str, message: str = "") -> None:
    """Show that the containers of a pod wait for something."""
    state = {"reason": reason, **({"message": message} if message else {})}
    _containers(pod, {"waiting": state})


def running(pod: Body, store: Store) -> None:
    """Show that a pod runs."""
    now = store.now()
    pod["status"] |= {"phase": "Running"}
    for kind in ("Initialized", "ContainersReady", "Ready"):
        set_condition(pod, kind, True, now)
    _containers(pod, {"running": {"startedAt": now}}, ready=True)
    store.touch(pod)


def ended(pod: Body, store: Store, code: int, reason: str, message: str = "") -> None:
    """Show that the containers of a pod have ended, all with one code."""
    now = store.now()
    began = _began(pod) or now
    pod["status"]["phase"] = "Failed" if code else "Succeeded"
    for kind in ("ContainersReady", "Ready"):
        set_condition(pod, kind, False, now, "PodFailed" if code else "PodCompleted")
    state = {"exitCode": code, "reason": reason, "startedAt": began, "finishedAt": now}
    _containers(pod, {"terminated": {**state, **({"message": message} if message else {})}})
    store.touch(pod)


def _began(pod: Body) -> str:
    for each in pod["status"].get("containerStatuses", ()):
        if "running" in each["state"]:
            return str(each["state"]["running"]["startedAt"])
    return ""


def _containers(pod: Body, state: Body, *, ready: bool = False) -> None:
    pod["status"]["containerStatuses"] = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "lastState": {},
            "state": copy.deepcopy(state),
        }
        for container in pod["spec"]["containers"]
    ]
