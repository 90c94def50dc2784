"""EKS's operations in one Region: it has a cluster from the start, unless it is empty, and those that are created."""

from __future__ import annotations

import base64
import threading
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.names import LAUNCHER_ROLE, TRAINING_ROLE
from orchestrator.localcloud.services.eks.access import EDIT
from orchestrator.localcloud.services.eks.cluster import VERSION, Cluster
from orchestrator.localcloud.services.eks.kubernetes.nodes.nodes import MACHINES, Group, usual_groups
from orchestrator.localcloud.services.eks.kubernetes.resources import ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.eks.access import Entry
    from orchestrator.localcloud.services.eks.associations import Association
    from orchestrator.localcloud.services.eks.cluster import Around

Body = dict[str, Any]

CLUSTER = "sweep"
"""The name of each Region's cluster."""
NAMESPACE = "sweep"
ACCOUNT = "sweep-training"
"""The namespace and the service account for trainings."""
AGENT = "eks-pod-identity-agent"
"""The add-on that gives pods the keys of their role. Each cluster has it here."""


class Eks:
    """EKS in one Region. Each operation is a method: it has boto3's name, takes a request, returns an answer.

    A method raises AwsError to refuse a request.
    """

    def __init__(self, around: Around, region: str, *, empty: bool) -> None:
        """`empty` is for an account that has no cluster yet: others can be made."""
        self._around = around
        self._region = region
        self._empty = empty
        self._made: dict[str, Cluster] = {}
        self._lock = threading.Lock()

    @property
    def running(self) -> list[Cluster]:
        """The clusters that anybody has asked for yet."""
        return list(self._made.values())

    @property
    def cluster(self) -> Cluster:
        """The first cluster, made now if it is not yet. Raise AwsError when the account has none."""
        if self._empty:
            if not self._made:
                raise _no_cluster(CLUSTER)
            return self.running[0]
        with self._lock:
            if CLUSTER not in self._made:
                made = self._make(CLUSTER)
                for group in usual_groups():
                    made.groups.add(group)
                made.add_namespace(NAMESPACE)
                made.store.add(ACCOUNTS, {"metadata": {"name": ACCOUNT, "namespace": NAMESPACE}})
                roles = f"arn:aws:iam::{self._around.site.account}:role"
                made.associations.add(NAMESPACE, ACCOUNT, f"{roles}/{TRAINING_ROLE}")
                made.access.add(f"{roles}/{LAUNCHER_ROLE}")
                scope = {"type": "namespace", "namespaces": [NAMESPACE]}
                made.access.allow(f"{roles}/{LAUNCHER_ROLE}", EDIT, scope)
            return self._made[CLUSTER]

    def add_shortage(self, instance_type: str | None, spot: bool | None) -> Callable[[], None]:
        """Let nothing new begin on some nodes; return a call that ends it. An account without a cluster has none."""
        if self._empty and not self._made:
            return lambda: None
        return self.cluster.add_shortage(instance_type, spot)

    def create_cluster(self, body: Body) -> Body:
        """Make a cluster without nodes. It is ready at once."""
        if body["name"] in self._names():
            raise AwsError("ResourceInUseException", f"Cluster already exists with name: {body['name']}", 409)
        with self._lock:
            made = self._make(body["name"], body.get("version") or VERSION)
        return {"cluster": self._describe(made)}

    def describe_cluster(self, body: Body) -> Body:
        return {"cluster": self._describe(self._find(body["name"]))}

    def list_clusters(self, _: Body) -> Body:
        return {"clusters": self._names()}

    def describe_addon(self, body: Body) -> Body:
        cluster = self._find(body["name"])
        if body["addonName"] != AGENT:
            raise AwsError("ResourceNotFoundException", f"No addon: {body['addonName']} found in cluster.", 404)
        return {"addon": {"addonName": AGENT, "clusterName": cluster.name, "status": "ACTIVE"}}

    # Nodes

    def create_nodegroup(self, body: Body) -> Body:
        cluster, name = self._find(body["name"]), body["nodegroupName"]
        if cluster.groups.find(name):
            raise AwsError("ResourceInUseException", f"NodeGroup already exists with name {name}", 409)
        (kind, *more), scaling = body.get("instanceTypes") or ["t3.medium"], body.get("scalingConfig") or {}
        if more or kind not in MACHINES:
            known = ", ".join(MACHINES)
            message = f"a node group of the local cloud has one instance type of these: {known}"
            raise AwsError("InvalidParameterException", message, 400)
        wanted = int(scaling.get("desiredSize", 2))
        most, least = int(scaling.get("maxSize", wanted)), int(scaling.get("minSize", 0))
        with cluster.store.lock:
            cluster.groups.add(Group(name, kind, body.get("capacityType") == "SPOT", wanted, most, least))
        return self.describe_nodegroup({**body, "nodegroupName": name})

    def describe_nodegroup(self, body: Body) -> Body:
        cluster = self._find(body["name"])
        group = cluster.groups.find(body["nodegroupName"])
        if group is None:
            message = f"No node group found for name: {body['nodegroupName']}."
            raise AwsError("ResourceNotFoundException", message, 404)
        return {
            "nodegroup": {
                "nodegroupName": group.name,
                "clusterName": cluster.name,
                "status": "ACTIVE",
                "capacityType": "SPOT" if group.spot else "ON_DEMAND",
                "scalingConfig": {"minSize": group.least, "maxSize": group.most, "desiredSize": group.wanted},
                "instanceTypes": [group.instance_type],
                "labels": {},
                "taints": [],
            }
        }

    def list_nodegroups(self, body: Body) -> Body:
        return {"nodegroups": [group.name for group in self._find(body["name"]).groups.all()]}

    def delete_nodegroup(self, body: Body) -> Body:
        told = self.describe_nodegroup(body)
        cluster = self._find(body["name"])
        with cluster.store.lock:
            cluster.groups.remove(body["nodegroupName"])
        return told

    # Who may do what

    def create_access_entry(self, body: Body) -> Body:
        return {"accessEntry": self._entry(body["name"], self._find(body["name"]).access.add(body["principalArn"]))}

    def describe_access_entry(self, body: Body) -> Body:
        return {"accessEntry": self._entry(body["name"], self._find(body["name"]).access.get(body["principalArn"]))}

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

    def disassociate_access_policy(self, body: Body) -> None:
        self._find(body["name"]).access.deny(body["principalArn"], body["policyArn"])

    def list_associated_access_policies(self, body: Body) -> Body:
        entry = self._find(body["name"]).access.get(body["principalArn"])
        told = [
            {
                "policyArn": policy,
                "accessScope": {"type": "namespace", "namespaces": list(names)} if names else {"type": "cluster"},
            }
            for policy, names in entry.policies.items()
        ]
        return {"clusterName": body["name"], "principalArn": entry.principal, "associatedAccessPolicies": told}

    # The roles of pods

    def create_pod_identity_association(self, body: Body) -> Body:
        made = self._find(body["name"]).associations.add(body["namespace"], body["serviceAccount"], body["roleArn"])
        return {"association": _association(body["name"], made)}

    def describe_pod_identity_association(self, body: Body) -> Body:
        found = self._find(body["name"]).associations.get(body["associationId"])
        return {"association": _association(body["name"], found)}

    def update_pod_identity_association(self, body: Body) -> Body:
        found = self._find(body["name"]).associations.get(body["associationId"])
        found.role = body.get("roleArn", found.role)
        return {"association": _association(body["name"], found)}

    def delete_pod_identity_association(self, body: Body) -> Body:
        gone = self._find(body["name"]).associations.remove(body["associationId"])
        return {"association": _association(body["name"], gone)}

    def list_pod_identity_associations(self, body: Body) -> Body:
        found = self._find(body["name"]).associations.find(body.get("namespace", ""), body.get("serviceAccount", ""))
        shown = [_association(body["name"], one) for one in found]
        return {"associations": [{key: one[key] for key in one if key != "roleArn"} for one in shown]}

    def _names(self) -> list[str]:
        return list(dict.fromkeys([*([] if self._empty else [CLUSTER]), *self._made]))

    def _make(self, name: str, version: str = VERSION) -> Cluster:
        creator = f"arn:aws:iam::{self._around.site.account}:root"
        self._made[name] = Cluster(self._around, self._region, name, creator, version)
        return self._made[name]

    def _find(self, name: str) -> Cluster:
        if name == CLUSTER and not self._empty:
            return self.cluster
        if name not in self._made:
            raise _no_cluster(name)
        return self._made[name]

    def _describe(self, cluster: Cluster) -> Body:
        return {
            "name": cluster.name,
            "arn": self._arn(f"cluster/{cluster.name}"),
            "createdAt": cluster.created,
            "version": cluster.version,
            "endpoint": cluster.url,
            "certificateAuthority": {"data": base64.b64encode(cluster.authority).decode()},
            "status": "ACTIVE",
            "identity": {"oidc": {"issuer": cluster.issuer}},
            "accessConfig": {"authenticationMode": "API"},
        }

    def _entry(self, cluster: str, entry: Entry) -> Body:
        return {"clusterName": cluster, "principalArn": entry.principal, "type": "STANDARD", "kubernetesGroups": []}

    def _arn(self, resource: str) -> str:
        return self._around.site.arn("eks", self._region, resource)


def _association(cluster: str, one: Association) -> Body:
    return {
        "clusterName": cluster,
        "namespace": one.namespace,
        "serviceAccount": one.account,
        "roleArn": one.role,
        "associationId": one.id,
    }


def _no_cluster(name: str) -> AwsError:
    return AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", 404)
