"""The Job and its Service, held against Kubernetes' own published schemas (1.34), and against what its pages say.

`kubernetes-1.34.json` has the definitions that a Job and a Service lead to, without their texts, from the strict
schemas of github.com/willthames/kubernetes-json-schema: no field may be there that Kubernetes does not know.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orchestrator.errors import InvalidRequest
from orchestrator.platforms.eks.kube.api import find_dropped
from orchestrator.wire.names import canonical
from orchestrator.wire.task import Purchase
from tests.platforms.eks.made import ARN, place, request

VOLUME = {"data": {"claim": "fsx-claim", "path": "/fsx", "read_only": True}}
TOLERATION = {"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}


@cache
def schema(name: str) -> Draft202012Validator:
    known = json.loads((Path(__file__).parent / "kubernetes-1.34.json").read_text())
    return Draft202012Validator({**known, "$ref": f"#/$defs/{name}"})


def problems(body: dict[str, Any]) -> list[str]:
    group = {"Job": "io.k8s.api.batch.v1.Job", "Service": "io.k8s.api.core.v1.Service"}[body["kind"]]
    return [f"{error.json_path}: {error.message}" for error in schema(group).iter_errors(body)]


@pytest.mark.parametrize(
    ("at", "changes"),
    [
        (place(), {}),
        (place("c5.xlarge", Purchase.SPOT, 3), {"queue": "team-a", "shm_gb": 8}),
        (place("p4d.24xlarge", Purchase.COMMITTED, 2), {"efa": 4, "volumes": VOLUME, "tolerations": [TOLERATION]}),
        (place("trn1.32xlarge"), {"node_selector": {"topology.kubernetes.io/zone": "eu-west-1a"}}),
    ],
)
def test_job_and_service_are_what_kubernetes_knows(at: Any, changes: dict[str, Any]) -> None:
    body = request(at, **changes).body
    assert problems(body["job"]) == []
    assert problems(body["service"]) == []


def test_the_schemas_refuse_what_kubernetes_does_not_know() -> None:
    job = request().body["job"]
    assert problems({**job, "spec": {**job["spec"], "podFailurePolice": {}}})
    assert problems({**job, "spec": {**job["spec"], "completions": "two"}})


def test_an_attempt_is_an_indexed_job_that_no_pod_outlives() -> None:
    job = request(place(instances=3)).body["job"]
    spec = job["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert (spec["backoffLimit"], spec["podReplacementPolicy"]) == (0, "Failed")
    assert spec["activeDeadlineSeconds"] > 3600 + 600
    assert "ttlSecondsAfterFinished" not in spec
    rule = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    assert spec["podFailurePolicy"] == {"rules": [rule]}


@pytest.mark.parametrize(("name", "longest"), [("nightly-7-2", 63)])
def test_names_are_what_kubernetes_takes(name: str, longest: int) -> None:
    body = request(place(instances=100)).body
    assert body["job"]["metadata"]["name"] == name
    assert len(f"{'x' * 40}-9999999-99-99") <= longest
    service = body["service"]["metadata"]["name"]
    assert service[0].isalpha()
    assert body["job"]["spec"]["template"]["spec"]["subdomain"] == service
    assert body["service"]["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {"batch.kubernetes.io/job-name": name},
    }


def pod(**arguments: Any) -> Any:
    at = arguments.pop("at", place())
    return request(at, **arguments).body["job"]["spec"]["template"]["spec"]


def test_a_pod_asks_for_an_instance_of_its_own() -> None:
    assert pod()["containers"][0]["resources"] == {
        "requests": {"cpu": "3000m", "memory": "12288Mi", "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1"},
    }
    plain = pod(at=place("c5.xlarge"))["containers"][0]["resources"]
    assert plain == {"requests": {"cpu": "3000m", "memory": "6144Mi"}}
    fast = pod(at=place("p4d.24xlarge", instances=2), efa=4)["containers"][0]["resources"]
    assert fast["limits"] == {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4", "hugepages-2Mi": "5120Mi"}


def test_a_lane_is_nodes_of_its_type_that_are_bought_so() -> None:
    def terms(purchase: Purchase) -> Any:
        affinity = pod(at=place(purchase=purchase))["affinity"]["nodeAffinity"]
        return affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    of_type = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g5.xlarge"]}
    managed = {"key": "eks.amazonaws.com/capacityType", "values": ["SPOT"]}
    karpenter = {"key": "karpenter.sh/capacity-type", "values": ["spot"]}
    assert terms(Purchase.COMMITTED) == [{"matchExpressions": [of_type]}]
    assert terms(Purchase.SPOT) == [
        {"matchExpressions": [of_type, {**managed, "operator": "In"}]},
        {"matchExpressions": [of_type, {**karpenter, "operator": "In"}]},
    ]
    neither = [{**managed, "operator": "NotIn"}, {**karpenter, "operator": "NotIn"}]
    assert terms(Purchase.ON_DEMAND) == [{"matchExpressions": [of_type, *neither]}]


def test_gpus_are_tolerated_and_what_else_is_asked_for() -> None:
    gpus = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert pod(tolerations=[TOLERATION])["tolerations"] == [TOLERATION, gpus]
    assert pod(at=place("c5.xlarge"))["tolerations"] == []


def test_volumes_are_mounted_and_memory_is_shared() -> None:
    found = pod(volumes=VOLUME, shm_gb=4)
    assert found["volumes"] == [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "4Gi"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "fsx-claim"}},
    ]
    assert found["containers"][0]["volumeMounts"] == [
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "data", "mountPath": "/fsx", "readOnly": True},
    ]


def test_a_queue_s_job_waits_for_kueue() -> None:
    job = request(queue="team-a").body["job"]
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"


def test_a_pod_is_told_which_assignment_is_its_own() -> None:
    body = request().body
    *_, sources, address, digest = body["job"]["spec"]["template"]["spec"]["containers"][0]["command"]
    assert address == "s3://team-eu-west-1/runs/nightly/trainings/nightly-7-2/assignment.json"
    assert sources == body["assignment"]["sources"]
    assert digest == hashlib.sha256(canonical(body["assignment"]).encode()).hexdigest()


def test_a_commitment_is_a_cluster_s() -> None:
    assert request(place(purchase=Purchase.COMMITTED)).body["claim"]["cluster"] == ARN.rpartition("/")[2]
    with pytest.raises(InvalidRequest, match="what is committed is the cluster other"):
        request(place(purchase=Purchase.COMMITTED), cluster="other")


def test_what_a_server_drops_is_found_and_what_it_adds_is_not() -> None:
    sent = {"a": {"b": [{"c": 1}], "empty": []}, "n": 0}
    kept = {"a": {"b": [{"c": 1, "added": 2}, {"more": 1}]}, "n": 0, "status": {}}
    assert find_dropped(sent, kept) == ""
    assert find_dropped(sent, {"a": {"b": [{}]}, "n": 0}) == "a.b[0].c"
    assert find_dropped(sent, {"a": {"b": [{"c": 2}]}, "n": 0}) == "a.b[0].c"
    assert find_dropped(sent, {"a": {}, "n": 0}) == "a.b"
