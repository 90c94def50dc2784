"""Opens the Kubernetes API of a cluster: EKS says where it is, and by which authority it is known."""

from __future__ import annotations

import base64
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import SettingsError
from orchestrator.platforms.eks.kube.api import KubeApi

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients


class Clusters:
    """The clusters that a process has asked for: each is opened once."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._open: dict[tuple[str, str], KubeApi] = {}

    def open(self, region: str, cluster: str) -> KubeApi:
        """Return a cluster's API. Raise NotFound when there is no such cluster, SettingsError when it is not ready."""
        key = (region, cluster)
        if key not in self._open:
            self._open[key] = open_cluster(self._clients, region, cluster)
        return self._open[key]

    def forget(self, region: str, cluster: str) -> None:
        """Look for a cluster anew when it is asked for next: it may be gone, or made again at another address."""
        self._open.pop((region, cluster), None)


def open_cluster(clients: Clients, region: str, name: str) -> KubeApi:
    """Return the API of a cluster, which is asked nothing yet. Raise as `Clusters.open` does."""
    return open_described(clients, region, describe_cluster(clients, region, name))


def describe_cluster(clients: Clients, region: str, name: str) -> dict[str, Any]:
    """Return what EKS says of a cluster. Raise NotFound when there is none of this name."""
    asking = f"look for the cluster {name}"
    with aws_errors(asking, where=region):
        answer = clients.client("eks", region).describe_cluster(name=name)
    with understood(asking, where=region):
        found: dict[str, Any] = {"name": name, **answer["cluster"]}
    return found


def open_described(clients: Clients, region: str, found: dict[str, Any]) -> KubeApi:
    """Return the API of a cluster that EKS has described. Raise SettingsError when it is not ready."""
    from urllib3 import HTTPSConnectionPool

    name = found["name"]
    with understood(f"look for the cluster {name}", where=region):
        if not found.get("endpoint"):
            hint = "wait until it is ACTIVE"
            raise SettingsError(f"the cluster {name} is {found.get('status')}", where=region, hint=hint)
        authority = base64.b64decode(found["certificateAuthority"]["data"]).decode()
        split = urlsplit(found["endpoint"])
        context = ssl.create_default_context(cadata=authority)
        pool = HTTPSConnectionPool(str(split.hostname), split.port or 443, maxsize=4, ssl_context=context)
    return KubeApi(clients, region, name, pool)


def list_clusters(clients: Clients, region: str) -> list[str]:
    """Return the names of the account's clusters in a Region."""
    asking = "list the clusters"
    with aws_errors(asking, where=region), understood(asking, where=region):
        pages = clients.client("eks", region).get_paginator("list_clusters").paginate()
        return [str(name) for page in pages for name in page["clusters"]]
