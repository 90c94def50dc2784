"""Kubernetes' own client for Python lists Jobs, makes one and watches it and its pods to the end, with its Watch."""

from __future__ import annotations

import json
import sys

from kubernetes import client, watch

endpoint, authority, token, name = sys.argv[1:]
configuration = client.Configuration(host=endpoint)
configuration.ssl_ca_cert = authority
configuration.api_key = {"authorization": f"Bearer {token}"}
api = client.ApiClient(configuration)
batch, core = client.BatchV1Api(api), client.CoreV1Api(api)
start = batch.list_namespaced_job("sweep").metadata.resource_version
container = client.V1Container(name="main", image="python:3.12", command=["sh", "-c", "true"])
wanted = [
    client.V1NodeSelectorRequirement(key="node.kubernetes.io/instance-type", operator="In", values=["c5.xlarge"]),
    client.V1NodeSelectorRequirement(key="eks.amazonaws.com/nodegroup", operator="Exists"),
    client.V1NodeSelectorRequirement(key="eks.amazonaws.com/capacityType", operator="NotIn", values=["SPOT"]),
    client.V1NodeSelectorRequirement(key="karpenter.sh/capacity-type", operator="DoesNotExist"),
]
terms = client.V1NodeSelector(node_selector_terms=[client.V1NodeSelectorTerm(match_expressions=wanted)])
affinity = client.V1Affinity(
    node_affinity=client.V1NodeAffinity(required_during_scheduling_ignored_during_execution=terms)
)
pod = client.V1PodTemplateSpec(spec=client.V1PodSpec(restart_policy="Never", containers=[container], affinity=affinity))
spec = client.V1JobSpec(completion_mode="Indexed", completions=2, parallelism=2, template=pod)
meta = client.V1ObjectMeta(name=name, labels={"team": name})
batch.create_namespaced_job("sweep", client.V1Job(metadata=meta, spec=spec))
selectors = {
    f"team in ({name}, other),team,!gone": True,
    f"team notin ({name})": False,
    f"team={name},team notin (other)": True,
    "!team": False,
}
found = {
    text: name in [each.metadata.name for each in batch.list_namespaced_job("sweep", label_selector=text).items]
    for text in selectors
}

chosen = {"field_selector": f"metadata.name={name}", "resource_version": start, "timeout_seconds": 60}
jobs = []
watching = watch.Watch()
for event in watching.stream(batch.list_namespaced_job, "sweep", **chosen):
    jobs.append(event["type"])
    conditions = event["object"].status.conditions or []
    if event["type"] == "MODIFIED" and any(each.type == "Complete" for each in conditions):
        batch.delete_namespaced_job(name, "sweep", propagation_policy="Background")
    if event["type"] == "DELETED":
        watching.stop()

pods: dict[str, list[str]] = {}
label = f"batch.kubernetes.io/job-name={name}"
watching = watch.Watch()
for event in watching.stream(
    core.list_namespaced_pod, "sweep", label_selector=label, resource_version=start, timeout_seconds=60
):
    pods.setdefault(event["object"].metadata.name, []).append(event["type"])
    if len(pods) == 2 and all(seen[-1] == "DELETED" for seen in pods.values()):
        watching.stop()
sys.stdout.write(json.dumps({"jobs": jobs, "pods": list(pods.values()), "selected": found == selectors}) + "\n")
