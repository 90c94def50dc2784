"""The Kubernetes API of one cluster: the few calls that trainings need, and its refusals as errors of ours.

It takes urllib3 alone, which botocore brings: a launcher has nothing else.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote, urlencode

from orchestrator.aws.session import ONCE_S
from orchestrator.errors import (
    AccessDenied,
    AlreadyExists,
    CloudError,
    InvalidRequest,
    NotFound,
    QuotaExceeded,
    Throttled,
    Unreachable,
)
from orchestrator.platforms.eks.kube.token import LASTS_S, make_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from urllib3 import BaseHTTPResponse, HTTPSConnectionPool

    from orchestrator.aws.session import Clients
    from orchestrator.errors import SweepError

Body = dict[str, Any]

JOBS = "batch/v1/jobs"
SERVICES = "v1/services"
PODS = "v1/pods"
EVENTS = "v1/events"
NODES = "v1/nodes"
ACCOUNTS = "v1/serviceaccounts"
CLAIMS = "v1/persistentvolumeclaims"
NAMESPACES = "v1/namespaces"
LIMITS = "v1/resourcequotas"
POOLS = "karpenter.sh/v1/nodepools"
_PAGE = 200
_KINDS: dict[int, type[SweepError]] = {
    400: InvalidRequest, 401: AccessDenied, 403: AccessDenied, 404: NotFound, 409: AlreadyExists, 415: InvalidRequest,
    422: InvalidRequest, 429: Throttled,
}  # fmt: skip
_HINTS: dict[int, str] = {
    401: "the cluster does not know this identity: give it an access entry",
    403: "let this identity do it: an access policy of its access entry is missing",
    404: "check its name and its namespace",
    429: "the cluster asks to slow down: try again in a while",
}


@dataclass(frozen=True)
class Answer:
    """A document, and when the server has answered, by its own clock."""

    body: Body
    now: float


class KubeApi:
    """One cluster. Every method raises errors of `orchestrator.errors`, in the cluster's own words."""

    def __init__(self, clients: Clients, region: str, cluster: str, pool: HTTPSConnectionPool) -> None:
        self.region = region
        self.cluster = cluster
        self._clients = clients
        self._pool = pool
        self._token = ""
        self._signed_at = 0.0

    def get(self, kind: str, namespace: str, name: str) -> Answer:
        """Return an object. Raise NotFound when there is none."""
        return self._send("GET", _path(kind, namespace, name), {})

    def list(self, kind: str, namespace: str = "", **chosen: str) -> Iterator[Body]:
        """Yield objects, of all namespaces unless one is named; `chosen` has selectors."""
        more = ""
        while True:
            query = {**chosen, "limit": str(_PAGE), **({"continue": more} if more else {})}
            page = self._send("GET", _path(kind, namespace), query).body
            yield from page.get("items") or ()
            more = (page.get("metadata") or {}).get("continue", "")
            if not more:
                return

    def create(self, kind: str, namespace: str, body: Body, *, trial: bool = False) -> Answer:
        """Make an object, and return it as the cluster keeps it. It is sent once. With `trial`, nothing is made."""
        # A server that is too old for this drops what it does not know, and says nothing: see `find_dropped`.
        query = {"fieldValidation": "Strict", **({"dryRun": "All"} if trial else {})}
        return self._send("POST", _path(kind, namespace), query, body)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Remove an object, with all that it owns."""
        self._send("DELETE", _path(kind, namespace, name), {}, {"propagationPolicy": "Background"})

    def version(self) -> tuple[int, int]:
        """Return which version of Kubernetes answers, such as (1, 34)."""
        body = self._send("GET", "/version", {}).body
        try:
            return int(body["major"]), int(str(body["minor"]).rstrip("+"))
        except (KeyError, ValueError) as error:
            raise CloudError(f"it is no version of Kubernetes: {body}", where=self._where) from error

    def may(self, verb: str, kind: str, namespace: str = "") -> bool:
        """Return whether we may do that with objects of a kind, in a namespace or in all; `v1/pods:log` is a part."""
        group, _, plural = kind.rpartition("/")
        plural, _, part = plural.partition(":")
        about = {"verb": verb, "group": group.partition("/")[0] if "/" in group else "", "resource": plural}
        about |= {name: text for name, text in (("subresource", part), ("namespace", namespace)) if text}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": about},
        }
        answer = self._send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}, body).body
        return bool((answer.get("status") or {}).get("allowed"))

    def log(self, namespace: str, pod: str, lines: int) -> str:
        """Return the last lines of a pod's log."""
        answer = self._ask("GET", f"{_path(PODS, namespace, pod)}/log", {"tailLines": str(lines)})
        return answer.data.decode("utf-8", "replace")

    def _send(self, method: str, path: str, query: Mapping[str, str], body: Body | None = None) -> Answer:
        answer = self._ask(method, path, query, body)
        date = answer.headers.get("Date")
        now = parsedate_to_datetime(date).timestamp() if date else time.time()
        try:
            return Answer(json.loads(answer.data), now)
        except ValueError as error:
            raise Unreachable(f"no JSON from {path}", where=self._where) from error

    def _ask(self, method: str, path: str, query: Mapping[str, str], body: Body | None = None) -> BaseHTTPResponse:
        from urllib3 import Retry, Timeout
        from urllib3.exceptions import HTTPError

        url = f"{path}?{urlencode(query)}" if query else path
        headers = {"Authorization": f"Bearer {self._take_token()}", "Accept": "application/json"}
        text = None if body is None else json.dumps(body)
        if text is not None:
            headers["Content-Type"] = "application/json"
        # What is to happen is asked for once: the caller repeats it, and has looked before whether it still should.
        tries = Retry(2, backoff_factor=0.2, redirect=0) if method == "GET" else False
        timeout = Timeout(connect=ONCE_S / 3, read=ONCE_S)
        try:
            answer = self._pool.request(method, url, body=text, headers=headers, retries=tries, timeout=timeout)
        except HTTPError as error:
            reason = " ".join(str(error).split())
            hint = "check the network, and whether the cluster's endpoint may be reached from here"
            raise Unreachable(f"no answer: {reason}", where=self._where, hint=hint) from error
        if answer.status >= 300:
            self._refuse(answer)
        return answer

    def _take_token(self) -> str:
        now = time.monotonic()
        if not self._token or now > self._signed_at + LASTS_S:
            self._token, self._signed_at = make_token(self._clients, self.region, self.cluster), now
        return self._token

    def _refuse(self, answer: BaseHTTPResponse) -> NoReturn:
        """Raise what a refusal means."""
        try:
            words = str(json.loads(answer.data)["message"])
        except (ValueError, KeyError, TypeError):
            words = f"HTTP {answer.status}"
        if answer.status == 403 and "exceeded quota" in words:
            hint = "wait for running work to end, or raise the namespace's ResourceQuota"
            raise QuotaExceeded(words, where=self._where, hint=hint)
        if answer.status == 403 and "denied the request" in words:
            raise InvalidRequest(words, where=self._where, hint="the cluster's own policy refuses it")
        other = Unreachable if answer.status >= 500 else CloudError
        raise _KINDS.get(answer.status, other)(
            " ".join(words.split()), where=self._where, hint=_HINTS.get(answer.status, "")
        )

    @property
    def _where(self) -> str:
        return f"{self.region} {self.cluster}"


def _path(kind: str, namespace: str = "", name: str = "") -> str:
    group, _, plural = kind.rpartition("/")
    root = f"/apis/{group}" if "/" in group else f"/api/{group}"
    words = [root, *(("namespaces", quote(namespace)) if namespace else ()), plural, *((quote(name),) if name else ())]
    return "/".join(words)


def find_dropped(sent: Any, kept: Any, path: str = "") -> str:
    """Return the path of the first thing that was sent and is not in what was kept; nothing if all is."""
    if isinstance(sent, dict):
        if not isinstance(kept, dict):
            return path
        for name, value in sent.items():
            at = f"{path}.{name}".lstrip(".")
            if name not in kept:
                if value not in (None, "", [], {}, False):
                    return at
            elif found := find_dropped(value, kept[name], at):
                return found
        return ""
    if isinstance(sent, list):
        if not isinstance(kept, list) or len(kept) < len(sent):
            return path
        pairs = zip(sent, kept, strict=False)  # others may have been added behind ours
        return next(
            filter(None, (find_dropped(one, other, f"{path}[{n}]") for n, (one, other) in enumerate(pairs))), ""
        )
    return "" if sent == kept else path
