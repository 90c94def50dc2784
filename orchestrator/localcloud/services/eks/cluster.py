"""One cluster: its API, what runs there, who may ask for what, and what can befall it."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from orchestrator.localcloud.http.answers import Answer
from orchestrator.localcloud.http.call import Call
from orchestrator.localcloud.services.eks import reviews, web
from orchestrator.localcloud.services.eks.access import Access
from orchestrator.localcloud.services.eks.associations import Associations
from orchestrator.localcloud.services.eks.certificates import make_certificates
from orchestrator.localcloud.services.eks.kubernetes.jobs.jobs import Jobs
from orchestrator.localcloud.services.eks.kubernetes.nodes import nodes
from orchestrator.localcloud.services.eks.kubernetes.pods import pods
from orchestrator.localcloud.services.eks.kubernetes.pods.kubelet import Kubelet
from orchestrator.localcloud.services.eks.kubernetes.requests import Asked, Requests
from orchestrator.localcloud.services.eks.kubernetes.resources import ACCOUNTS, JOBS, NAMESPACES, NODES, PODS
from orchestrator.localcloud.services.eks.kubernetes.status import KubeError, bad_request
from orchestrator.localcloud.services.eks.kubernetes.store import Store
from orchestrator.localcloud.services.eks.pod_keys import PodKeys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.localcloud.faults.call_faults import CallFaults
    from orchestrator.localcloud.iam.web_identities import WebIdentities
    from orchestrator.localcloud.services.eks.kubernetes.pods.images import Images
    from orchestrator.localcloud.services.eks.tokens import Tokens
    from orchestrator.localcloud.site import Site

Body = dict[str, Any]

SERVICE = "kubernetes"
"""What faults call the API of a cluster."""
VERSION = "1.35"
_ALWAYS = ("default", "kube-system")


@dataclass(frozen=True)
class Around:
    """What all clusters of a cloud have in common."""

    site: Site
    tokens: Tokens
    images: Images
    call_faults: CallFaults
    web_identities: WebIdentities


class Cluster:
    """A cluster, with its nodes. It serves from the moment that it is made."""

    def __init__(self, around: Around, region: str, name: str, creator: str, version: str = VERSION) -> None:
        self.name = name
        self.version = version
        self.created = around.site.clock.now()
        self.access = Access(creator)
        self._around = around
        self._region = region
        self.store = Store(around.site.clock)
        self._kubelet = Kubelet(around.site, region, self.store, around.images)
        self._jobs = Jobs(self.store, self._kubelet, around.site.clock)
        self._kubelet.changed = self._jobs.look_for_owner
        self.associations = Associations()
        self.issuer = f"https://oidc.eks.{region}.amazonaws.com/id/{secrets.token_hex(16).upper()}"
        make_token = partial(around.web_identities.make_token, self.issuer)
        keys = PodKeys(region, self.store, self.associations, around.site.roles, make_token)
        self._kubelet.keys_of = keys.variables
        self.groups = self._kubelet.groups
        self.requests = Requests(self.store, self._jobs, self._kubelet)
        for namespace in _ALWAYS:
            self.add_namespace(namespace)
        certificates = make_certificates(f"{name}-{region}", around.site.scratch)
        self.authority = certificates.authority
        self._server = web.Server(certificates.server, self._answer, around.site.clock.now)
        self.url = self._server.url

    def add_namespace(self, name: str) -> None:
        """Add a namespace, with the service account that each has."""
        self.store.add(NAMESPACES, {"metadata": {"name": name}})
        self.store.add(ACCOUNTS, {"metadata": {"name": "default", "namespace": name}})

    # Answering

    def _answer(self, handler: web.Handler, body: bytes) -> Answer:
        split = urlsplit(handler.path)
        asked = Asked(
            method=handler.command,
            path=unquote(split.path),
            query=dict(parse_qsl(split.query, keep_blank_values=True)),
            content_type=handler.headers.get("Content-Type", "").partition(";")[0],
        )
        environ = {"REQUEST_METHOD": asked.method, "PATH_INFO": asked.path, "QUERY_STRING": split.query}
        environ["HTTP_AUTHORIZATION"] = handler.headers.get("Authorization", "")
        call = Call(SERVICE, self._region, _operation(asked), body, environ)
        return self._around.call_faults.answer(call, lambda call: self._safely(call, asked))

    def _safely(self, call: Call, asked: Asked) -> Answer:
        try:
            principal = self._around.tokens.principal(call.environ["HTTP_AUTHORIZATION"], self.name, self._region)
            self.access.entry(principal)
            if asked.path == "/version":
                return Answer(*web.document(200, {"major": "1", "minor": self.version.partition(".")[2]}))
            read = Asked(asked.method, asked.path, asked.query, asked.content_type, _json(call.body))
            if asked.path == reviews.PATH:
                return Answer(*web.document(201, reviews.answer(self.access, principal, read)))
            self.access.check(principal, asked)
            if asked.verb == "watch":
                return web.Stream(
                    200, headers={"Content-Type": "application/json"}, open=self.requests.watch(read).lines
                )
            return Answer(*web.document(*self.requests.answer(read)))
        except KubeError as refusal:
            return Answer(*web.document(refusal.code, refusal.body()))

    # What can befall it

    def reclaim(self, what: str) -> bool:
        """Take spot nodes away: the one of this name, or those on which a Job or a pod of this name runs."""
        with self.store.lock:
            found = [node for node in self._nodes(what) if nodes.is_spot(node)]
            for node in found:
                self._kubelet.drain(node)
        return bool(found)

    def lose(self, what: str) -> bool:
        """Let nodes be gone at once: the one of this name, or one on which a Job or a pod of this name runs."""
        with self.store.lock:
            found = list(self._nodes(what))[:1]
            for node in found:
                self._kubelet.lose(node)
        return bool(found)

    def kill(self, what: str) -> bool:
        """Kill pods for want of memory: the one of this name, or those of a Job."""
        return self._for_each(what, self._kubelet.kill_for_memory)

    def push_out(self, what: str) -> bool:
        """Evict pods from nodes that are short of memory: the one of this name, or those of a Job."""
        return self._for_each(what, self._kubelet.push_out)

    def add_shortage(self, instance_type: str | None, spot: bool | None) -> Callable[[], None]:
        """Let nothing new begin on nodes of a type and a purchase; return a call that ends it."""

        def concerns(node: Body) -> bool:
            of_type = instance_type in (None, node["metadata"]["labels"][nodes.INSTANCE_TYPE])
            return of_type and spot in (None, nodes.is_spot(node))

        return self._kubelet.add_shortage(concerns)

    def _for_each(self, what: str, action: Callable[[Body], None]) -> bool:
        with self.store.lock:
            found = [pod for pod in self._pods(what) if pod["status"]["phase"] == "Running"]
            for pod in found:
                action(pod)
        return bool(found)

    def _nodes(self, what: str) -> Iterator[Body]:
        names = {what, *(pod["spec"].get("nodeName") for pod in self._pods(what))}
        return (node for node in self.store.all(NODES) if node["metadata"]["name"] in names)

    def _pods(self, what: str) -> list[Body]:
        """Return the pods that run, of a name or of a Job's."""
        alive = [pod for pod in self.store.all(PODS) if not pods.has_ended(pod)]
        return [pod for pod in alive if what in (pod["metadata"]["name"], pod["metadata"]["labels"].get(pods.JOB_NAME))]

    def jobs(self) -> list[Body]:
        """Return all Jobs, the oldest first."""
        with self.store.lock:
            return self.store.all(JOBS)


def _operation(asked: Asked) -> str:
    """Return what faults call a request, such as CreateJob, ListPods, WatchPods or GetPodLog."""
    try:
        target = asked.target
    except KubeError:
        return f"{asked.method} {asked.path}"
    verb = asked.verb.capitalize()
    kind = f"{target.resource.kind}s" if asked.verb in ("list", "watch") else target.resource.kind
    return f"{verb}{kind}{target.part.capitalize()}"


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error
