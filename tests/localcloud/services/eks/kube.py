"""A client of a cluster's API as other people's are: a token from botocore's signer, TLS by the cluster's authority."""

from __future__ import annotations

import base64
import json
import ssl
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import urllib3
from botocore.credentials import Credentials
from botocore.hooks import HierarchicalEmitter
from botocore.model import ServiceId
from botocore.signers import RequestSigner

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACE = "/api/v1/namespaces/sweep"
JOBS = "/apis/batch/v1/namespaces/sweep/jobs"


def make_token(key: str, secret: str, region: str, cluster: str = "sweep", session: str | None = None) -> str:
    emitter = HierarchicalEmitter()  # the signer does not keep it
    signer = RequestSigner(ServiceId("sts"), region, "sts", "v4", Credentials(key, secret, session), emitter)
    url = signer.generate_presigned_url(
        {
            "method": "GET",
            "url": f"https://sts.{region}.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {"x-k8s-aws-id": cluster},
            "context": {},
        },
        region_name=region,
        expires_in=60,
        operation_name="",
    )
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


@dataclass
class Answer:
    status: int
    body: Any


class Kube:
    def __init__(self, described: dict[str, Any], token: str) -> None:
        self.token = token
        authority = base64.b64decode(described["certificateAuthority"]["data"]).decode()
        split = urlsplit(described["endpoint"])
        self._pool = urllib3.HTTPSConnectionPool(
            str(split.hostname), split.port, ssl_context=ssl.create_default_context(cadata=authority)
        )

    def ask(self, method: str, path: str, body: Any = None, patch: bool = False) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}"}
        headers["Content-Type"] = "application/merge-patch+json" if patch else "application/json"
        text = None if body is None else json.dumps(body)
        answer = self._pool.request(method, path, body=text, headers=headers, retries=False, timeout=30)
        told = answer.data.decode()
        is_json = answer.headers["Content-Type"] == "application/json"
        return Answer(answer.status, json.loads(told) if is_json else told)

    @contextmanager
    def watch(self, path: str, **query: Any) -> Iterator[Iterator[Any]]:
        """Yield the events that a watch tells, one by one. The connection is closed with it."""
        asked = f"{path}?{urlencode({'watch': 1, **query})}"
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = self._pool.request("GET", asked, headers=headers, retries=False, timeout=60, preload_content=False)
        try:
            assert (answer.status, answer.headers["Transfer-Encoding"]) == (200, "chunked"), answer.data
            yield read_events(answer)
        finally:
            answer.close()

    def watch_to_end(self, path: str, **query: Any) -> list[Any]:
        """Return all that a watch of one second tells."""
        with self.watch(path, timeoutSeconds=1, **query) as events:
            return list(events)

    def job(self, name: str) -> Any:
        return self.ask("GET", f"{JOBS}/{name}").body

    def pods(self, job: str) -> list[Any]:
        found: list[Any] = self.ask("GET", f"{NAMESPACE}/pods?labelSelector=batch.kubernetes.io/job-name={job}").body[
            "items"
        ]
        return found

    def events(self, name: str) -> list[str]:
        found = self.ask("GET", f"{NAMESPACE}/events?fieldSelector=involvedObject.name={name}").body["items"]
        return [f"{each['reason']}: {each['message']}" for each in found]

    def log(self, pod: str) -> str:
        return str(self.ask("GET", f"{NAMESPACE}/pods/{pod}/log").body)


def read_events(answer: Any) -> Iterator[Any]:
    """Yield the lines of an answer, each as the JSON that it is."""
    rest = b""
    for piece in answer.stream(None):
        *lines, rest = (rest + piece).split(b"\n")
        yield from map(json.loads, lines)
    assert rest == b"", "the last line has no end"


def condition(body: Any, kind: str) -> Any:
    """Return a condition that holds; None if it does not."""
    conditions = (body.get("status") or {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == kind and each["status"] == "True"), None)


def make_job(name: str, script: str, completions: int = 1, **spec: Any) -> dict[str, Any]:
    """Return an Indexed Job whose pods run a shell script."""
    pod = {
        "restartPolicy": "Never",
        "subdomain": f"t-{name}",
        "terminationGracePeriodSeconds": 20,
        "containers": [{"name": "main", "image": "python:3.12", "command": ["sh", "-c", script]}],
        **spec.pop("pod", {}),
    }
    pod["containers"][0] |= spec.pop("container", {})
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, **spec.pop("metadata", {})},
        "spec": {
            "completionMode": "Indexed",
            "completions": completions,
            "parallelism": completions,
            "backoffLimit": 0,
            "template": {"metadata": {"labels": {"app": "x"}}, "spec": pod},
            **spec,
        },
    }
