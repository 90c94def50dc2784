"""What is asked of a cluster's API, and what it answers."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes import checks, fields
from orchestrator.localcloud.services.eks.kubernetes.jobs.jobs import with_defaults
from orchestrator.localcloud.services.eks.kubernetes.jobs.queues import hold_back, open_queue
from orchestrator.localcloud.services.eks.kubernetes.quotas import check_quotas, count_quotas
from orchestrator.localcloud.services.eks.kubernetes.reading.lists import list_objects
from orchestrator.localcloud.services.eks.kubernetes.reading.watches import Watch, is_asked_for
from orchestrator.localcloud.services.eks.kubernetes.resources import (
    ACCOUNTS,
    ALL,
    EVENTS,
    JOBS,
    NAMESPACES,
    NODES,
    PODS,
    QUEUES,
    find_target,
)
from orchestrator.localcloud.services.eks.kubernetes.status import (
    KubeError,
    already_exists,
    bad_request,
    forbidden,
    no_such_path,
)
from orchestrator.localcloud.services.eks.kubernetes.store import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.eks.kubernetes.jobs.jobs import Jobs
    from orchestrator.localcloud.services.eks.kubernetes.pods.kubelet import Kubelet
    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource, Target
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]

_PATCHES = ("application/merge-patch+json", "application/strategic-merge-patch+json")
_MADE_BY_USERS = frozenset(ALL) - {PODS, NODES, EVENTS}
_STATUS_OF_OURS = (JOBS, QUEUES)
_KEPT_FOR_OWNERS = "Orphan"


@dataclass(frozen=True)
class Asked:
    """A request, read."""

    method: str
    path: str
    query: Mapping[str, str]
    content_type: str = ""
    body: Any = None

    @property
    def target(self) -> Target:
        """What it is about. Raise KubeError when there is nothing at its path."""
        target = find_target(self.path)
        if target is None:
            raise no_such_path()
        return target

    @property
    def verb(self) -> str:
        """The verb by which rights are granted."""
        if self.method == "GET":
            if self.target.name:
                return "get"
            return "watch" if is_asked_for(self.query, "watch") else "list"
        return {"POST": "create", "PATCH": "patch", "DELETE": "delete"}.get(self.method, self.method.lower())

    @property
    def is_trial(self) -> bool:
        """True if nothing is to be done, as with `kubectl --dry-run=server`."""
        return self.query.get("dryRun") == "All"


class Requests:
    """Answers for one cluster."""

    def __init__(self, store: Store, jobs: Jobs, kubelet: Kubelet) -> None:
        self._store = store
        self._jobs = jobs
        self._kubelet = kubelet
        self.forgotten: list[str] = []
        """Paths of fields that this server does not know, as an older one would not."""
        self.refusals: list[str] = []
        """What an admission webhook says to every new Job."""
        store.changed = lambda resource, namespace: count_quotas(store, resource, namespace)
        jobs.remove = lambda job: self._delete(JOBS, job, "Background")

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Return the status and the document, or the text, that answers a request. Raise KubeError to refuse it."""
        target = asked.target
        with self._store.lock:
            self._check_namespace(target)
            if target.part == "log" and target.resource is PODS and asked.method == "GET":
                return 200, self._log(target, asked.query)
            if target.part:
                raise no_such_path()
            if asked.method == "GET":
                return 200, self._read(target, asked.query)
            if asked.method == "POST" and not target.name:
                return 201, self._create(target, asked)
            if asked.method == "PATCH" and target.name:
                return 200, self._patch(target, asked)
            if asked.method == "DELETE" and target.name:
                return 200, self._remove(target, asked)
        raise KubeError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")

    def watch(self, asked: Asked) -> Watch:
        """Return a watch that somebody asks for. Raise KubeError to refuse it."""
        target = asked.target
        with self._store.lock:
            self._check_namespace(target)
        return Watch(self._store, target, asked.query)

    def _check_namespace(self, target: Target) -> None:
        if target.resource.namespaced and target.namespace:
            self._store.get(NAMESPACES, "", target.namespace)

    # Reading

    def _read(self, target: Target, query: Mapping[str, str]) -> Body:
        resource = target.resource
        if target.name:
            return shown(self._store.get(resource, target.namespace, target.name))
        return list_objects(self._store, target, query)

    def _log(self, target: Target, query: Mapping[str, str]) -> str:
        pod = self._store.get(PODS, target.namespace, target.name)
        states = [each["state"] for each in pod["status"].get("containerStatuses", ())]
        waits = [state["waiting"] for state in states if "waiting" in state]
        if waits or "containerStatuses" not in pod["status"]:
            name, why = pod["spec"]["containers"][0]["name"], waits[0]["reason"] if waits else "ContainerCreating"
            raise bad_request(f'container "{name}" in pod "{target.name}" is waiting to start: {why}')
        if unknown := set(query) - {"container", "tailLines", "limitBytes"}:
            raise bad_request(f"the local cloud does not know {', '.join(sorted(unknown))} of a log")
        file = self._kubelet.log_of(pod)
        text = file.read_text(errors="replace") if file.exists() else ""
        if "tailLines" in query:
            text = "".join(text.splitlines(keepends=True)[-int(query["tailLines"]) :])
        return text[: int(query.get("limitBytes", len(text)))]

    # Making and changing

    def _create(self, target: Target, asked: Asked) -> Body:
        resource = target.resource
        if resource not in _MADE_BY_USERS:
            raise forbidden(resource, "", f"the local cloud makes {resource.plural} by itself")
        body = self._known(resource, asked)
        meta = body.setdefault("metadata", {})
        # What an object does not say of its kind, the path says.
        kind = (body.get("apiVersion") or resource.api_version, body.get("kind") or resource.kind)
        if kind != (resource.api_version, resource.kind):
            raise bad_request(f"the API version or kind in the data ({kind}) does not match the expected one")
        if meta.get("namespace", target.namespace) != target.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        if resource.namespaced:
            meta["namespace"] = target.namespace
        if "generateName" in meta and "name" not in meta:
            meta["name"] = meta["generateName"] + secrets.token_hex(3)[:5]
        body.setdefault("spec", {})
        if resource is JOBS:
            with_defaults(body)
            hold_back(body)
        if resource in _STATUS_OF_OURS:
            body["status"] = {}  # nobody but the cluster says how these stand
        checks.check(resource, body)
        if resource is JOBS and self.refusals:
            raise KubeError(
                403, "Forbidden", f'admission webhook "policy.example.com" denied the request: {self.refusals[0]}'
            )
        if self._store.find(resource, target.namespace, meta["name"]):
            raise already_exists(resource, meta["name"])
        check_quotas(self._store, resource, body)
        if asked.is_trial:
            return body
        if resource is QUEUES:
            open_queue(self._store, body)
        answer = shown(self._store.add(resource, body))  # what comes of it, comes later
        if resource is JOBS:
            self._jobs.start(body)
        if resource is QUEUES:
            self._jobs.look_at_queued(body)
        if resource is NAMESPACES:
            self._store.add(ACCOUNTS, {"metadata": {"name": "default", "namespace": meta["name"]}})
        return answer

    def _known(self, resource: Resource, asked: Asked) -> Body:
        """Return what is sent, without the fields that this server does not know."""
        if not isinstance(asked.body, dict):
            raise bad_request("the object provided is unrecognized: it is no JSON object")
        body, unknown = fields.split_fields(resource, asked.body, self.forgotten)
        unheard_of = [path for path in unknown if path not in self.forgotten]
        if unheard_of and asked.query.get("fieldValidation") == "Strict":
            raise bad_request(f'strict decoding error: unknown field "{unheard_of[0]}"')
        return body

    def _patch(self, target: Target, asked: Asked) -> Body:
        before = self._store.get(target.resource, target.namespace, target.name)
        if asked.content_type not in _PATCHES:
            raise KubeError(415, "UnsupportedMediaType", f"the local cloud takes {' and '.join(_PATCHES)}")
        if target.resource is not JOBS:
            raise no_such_path()
        after, _ = fields.split_fields(JOBS, fields.merge(shown(before), asked.body), self.forgotten)
        checks.check(JOBS, after)
        checks.check_change(before, after)
        if not asked.is_trial:
            before["spec"] = after["spec"]
            for name in ("labels", "annotations"):
                before["metadata"][name] = after["metadata"].get(name, {})
            self._store.touch(before)
            self._jobs.look(before)
        return shown(before)

    # Deleting

    def _remove(self, target: Target, asked: Asked) -> Body:
        body = self._store.get(target.resource, target.namespace, target.name)
        options = asked.body if isinstance(asked.body, dict) else {}
        uid = (options.get("preconditions") or {}).get("uid")
        if uid and uid != body["metadata"]["uid"]:
            raise KubeError(409, "Conflict", f"the UID in the precondition ({uid}) does not match the UID in record")
        # batch/v1 leaves the pods of a Job alone unless it is told otherwise: so it was in the beginning.
        usual = _KEPT_FOR_OWNERS if target.resource is JOBS else "Background"
        policy = options.get("propagationPolicy") or asked.query.get("propagationPolicy") or usual
        if not asked.is_trial:
            self._delete(target.resource, body, policy)
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}

    def _delete(self, resource: Resource, body: Body, policy: str) -> None:
        with self._store.lock:
            if self._store.find(resource, body["metadata"].get("namespace", ""), body["metadata"]["name"]) is not body:
                return
            if resource is PODS:
                self._kubelet.delete(body)
                return
            self._store.remove(resource, body)
            if resource is JOBS:
                self._jobs.forget(body)
            if policy != _KEPT_FOR_OWNERS:
                for kind in ALL:
                    for owned in self._store.owned(kind, body):
                        self._delete(kind, owned, policy)
