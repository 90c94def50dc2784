"""EKS's operations in one Region: it has one cluster, which is made when somebody first asks for it."""

from __future__ import annotations

import base64
import threading
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.eks.cluster import VERSION, Cluster
from orchestrator.localcloud.services.eks.kubernetes.kubelet import ROLE
from orchestrator.localcloud.services.eks.kubernetes.resources import ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.eks.access import Entry
    from orchestrator.localcloud.services.eks.cluster import Around

Body = dict[str, Any]

CLUSTER = "sweep"
"""The name of each Region's cluster."""
NAMESPACE = "sweep"
ACCOUNT = "sweep-training"
"""The namespace and the service account for trainings."""


class Eks:
    """EKS in one Region. Each operation is a method: it has boto3's name, takes a request, returns an answer.

    A method raises AwsError to refuse a request.
    """

    def __init__(self, around: Around, region: str, *, empty: bool) -> None:
        """`empty` is for an account that has no cluster yet: none can be made here."""
        self._around = around
        self._region = region
        self._empty = empty
        self._made: Cluster | None = None
        self._lock = threading.Lock()

    @property
    def running(self) -> Cluster | None:
        """The cluster, if anybody has asked for it yet."""
        return self._made

    @property
    def cluster(self) -> Cluster:
        """The cluster, made now if it is not yet. Raise AwsError when the account has none."""
        if self._empty:
            raise _no_cluster(CLUSTER)
        with self._lock:
            if self._made is None:
                creator = f"arn:aws:iam::{self._around.site.account}:root"
                self._made = Cluster(self._around, self._region, CLUSTER, creator)
                self._made.add_namespace(NAMESPACE)
                self._made.store.add(ACCOUNTS, {"metadata": {"name": ACCOUNT, "namespace": NAMESPACE}})
            return self._made

    def add_shortage(self, instance_type: str | None, spot: bool | None) -> Callable[[], None]:
        """Let nothing new begin on some nodes; return a call that ends it. An account without a cluster has none."""
        if self._empty:
            return lambda: None
        return self.cluster.add_shortage(instance_type, spot)

    def describe_cluster(self, body: Body) -> Body:
        cluster = self._find(body["name"])
        authority = base64.b64encode(cluster.authority).decode()
        return {
            "cluster": {
                "name": cluster.name,
                "arn": self._arn(f"cluster/{cluster.name}"),
                "createdAt": cluster.created,
                "version": VERSION,
                "endpoint": cluster.url,
                "certificateAuthority": {"data": authority},
                "status": "ACTIVE",
                "accessConfig": {"authenticationMode": "API"},
            }
        }

    def list_clusters(self, _: Body) -> Body:
        return {"clusters": [] if self._empty else [CLUSTER]}

    # Who may do what

    def create_access_entry(self, body: Body) -> Body:
        return {"accessEntry": self._entry(self._find(body["name"]).access.add(body["principalArn"]))}

    def describe_access_entry(self, body: Body) -> Body:
        return {"accessEntry": self._entry(self._find(body["name"]).access.get(body["principalArn"]))}

    def list_access_entries(self, body: Body) -> Body:
        return {"accessEntries": list(self._find(body["name"]).access.entries)}

    def delete_access_entry(self, body: Body) -> None:
        access = self._find(body["name"]).access
        del access.entries[access.get(body["principalArn"]).principal]

    def associate_access_policy(self, body: Body) -> Body:
        principal, policy, scope = body["principalArn"], body["policyArn"], body["accessScope"]
        self._find(body["name"]).access.allow(principal, policy, scope)
        return {
            "clusterName": body["name"],
            "principalArn": principal,
            "associatedAccessPolicy": {"policyArn": policy, "accessScope": scope},
        }

    # The roles of pods

    def create_pod_identity_association(self, body: Body) -> Body:
        """Let the pods of a service account have a role's keys. The account need not be there yet."""
        store = self._find(body["name"]).store
        with store.lock:
            account = store.find(ACCOUNTS, body["namespace"], body["serviceAccount"])
            if account is None:
                account = store.add(
                    ACCOUNTS, {"metadata": {"name": body["serviceAccount"], "namespace": body["namespace"]}}
                )
            account["metadata"].setdefault("annotations", {})[ROLE] = body["roleArn"]
        return {
            "association": {
                "clusterName": body["name"],
                **{name: body[name] for name in ("namespace", "serviceAccount", "roleArn")},
                "associationId": f"a-{account['metadata']['uid'][:17]}",
            }
        }

    def _find(self, name: str) -> Cluster:
        if self._empty or name != CLUSTER:
            raise _no_cluster(name)
        return self.cluster

    def _entry(self, entry: Entry) -> Body:
        return {"clusterName": CLUSTER, "principalArn": entry.principal, "type": "STANDARD", "kubernetesGroups": []}

    def _arn(self, resource: str) -> str:
        return self._around.site.arn("eks", self._region, resource)


def _no_cluster(name: str) -> AwsError:
    return AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", 404)
