"""Clusters that are created: who is let in, which role pods have, and nodes that join when pods wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.localcloud.conftest import eventually
from tests.localcloud.services.eks.kube import JOBS, NAMESPACE, Kube, make_job, make_token
from tests.localcloud.services.test_cloudformation import Deployer

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

REGION = "us-east-1"
EDIT = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
ROLE = "arn:aws:iam::123456789012:role/x"


@pytest.fixture
def kube(cloud: LocalCloud, client: Callable[..., Any], name: str) -> Kube:
    """A cluster of this test's own, with its namespace, and nothing else."""
    network = {"subnetIds": ["subnet-1", "subnet-2"]}
    made = client("eks", REGION).create_cluster(name=name, roleArn=ROLE, resourcesVpcConfig=network)["cluster"]
    keys = (cloud.environment["AWS_ACCESS_KEY_ID"], cloud.environment["AWS_SECRET_ACCESS_KEY"])
    kube = Kube(made, make_token(*keys, REGION, name))
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "sweep"}}
    assert kube.ask("POST", "/api/v1/namespaces", body).status == 201
    return kube


def test_a_cluster_has_no_nodes_before_it_has_a_group(client: Callable[..., Any], kube: Kube, name: str) -> None:
    assert name in client("eks", REGION).list_clusters()["clusters"]
    assert kube.ask("GET", "/api/v1/nodes").body["items"] == []
    with pytest.raises(ClientError) as caught:
        client("eks", REGION).create_cluster(name=name, roleArn=ROLE, resourcesVpcConfig={})
    assert caught.value.response["Error"]["Code"] == "ResourceInUseException"


def test_a_group_of_no_nodes_gets_one_for_each_pod_that_waits_up_to_its_most(
    client: Callable[..., Any], kube: Kube, name: str
) -> None:
    eks = client("eks", REGION)
    sizes = {"minSize": 0, "desiredSize": 0, "maxSize": 2}
    made = eks.create_nodegroup(
        clusterName=name,
        nodegroupName="cpus",
        scalingConfig=sizes,
        instanceTypes=["c5.xlarge"],
        capacityType="SPOT",
        subnets=["subnet-1"],
        nodeRole=ROLE,
    )["nodegroup"]
    assert (made["scalingConfig"], made["capacityType"]) == (sizes, "SPOT")
    asked = {"resources": {"requests": {"cpu": "3"}}}
    hang = "while test ! -e /tmp/never; do sleep 0.05; done"
    assert kube.ask("POST", JOBS, make_job("three", hang, 3, container=asked)).status == 201

    def running() -> bool:
        return sum(pod["status"]["phase"] == "Running" for pod in kube.pods("three")) == 2

    eventually(running)
    (waits,) = [pod for pod in kube.pods("three") if pod["status"]["phase"] == "Pending"]
    assert "Insufficient cpu" in str(waits["status"]["conditions"])
    nodes = kube.ask("GET", "/api/v1/nodes").body["items"]
    assert {node["metadata"]["labels"]["eks.amazonaws.com/capacityType"] for node in nodes} == {"SPOT"}
    assert eks.describe_nodegroup(clusterName=name, nodegroupName="cpus")["nodegroup"]["scalingConfig"] == {
        **sizes,
        "desiredSize": 2,
    }
    kube.ask("DELETE", f"{JOBS}/three", {"propagationPolicy": "Background"})
    eks.delete_nodegroup(clusterName=name, nodegroupName="cpus")
    assert kube.ask("GET", "/api/v1/nodes").body["items"] == []


@pytest.mark.usefixtures("kube")
def test_a_type_that_no_node_has_here_is_refused(client: Callable[..., Any], name: str) -> None:
    with pytest.raises(ClientError, match=r"one instance type of these: c5\.xlarge"):
        client("eks", REGION).create_nodegroup(
            clusterName=name, nodegroupName="x", instanceTypes=["x9.large"], subnets=["subnet-1"], nodeRole=ROLE
        )


def test_somebody_is_told_what_they_may_do(client: Callable[..., Any], kube: Kube, name: str) -> None:
    eks, iam = client("eks", REGION), client("iam")
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    arn = iam.get_user(UserName=name)["User"]["Arn"]
    eks.create_access_entry(clusterName=name, principalArn=arn)
    scope = {"type": "namespace", "namespaces": ["sweep"]}
    eks.associate_access_policy(clusterName=name, principalArn=arn, policyArn=EDIT, accessScope=scope)
    kube.token = make_token(key["AccessKeyId"], key["SecretAccessKey"], REGION, name)

    def may(verb: str, group: str, resource: str, namespace: str = "sweep") -> bool:
        about = {"verb": verb, "group": group, "resource": resource, "namespace": namespace}
        body = {"spec": {"resourceAttributes": about}}
        answer = kube.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
        assert answer.status == 201
        return bool(answer.body["status"]["allowed"])

    assert may("create", "batch", "jobs")
    assert not may("create", "batch", "jobs", "other")
    assert not may("list", "", "nodes", "")
    assert kube.ask("GET", f"{NAMESPACE}/serviceaccounts/default").status == 200
    eks.disassociate_access_policy(clusterName=name, principalArn=arn, policyArn=EDIT)
    assert not may("create", "batch", "jobs")


@pytest.mark.usefixtures("kube")
def test_a_stack_lets_a_role_in_and_gives_pods_a_role(client: Callable[..., Any], name: str) -> None:
    eks = client("eks", REGION)
    entry = {
        "ClusterName": name,
        "PrincipalArn": ROLE,
        "Type": "STANDARD",
        "AccessPolicies": [{"PolicyArn": EDIT, "AccessScope": {"Type": "namespace", "Namespaces": ["sweep"]}}],
    }
    pods = {"ClusterName": name, "Namespace": "sweep", "ServiceAccount": "trainer", "RoleArn": ROLE}
    resources = {
        "Entry": {"Type": "AWS::EKS::AccessEntry", "Properties": entry},
        "Pods": {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": pods},
    }
    deployer = Deployer(name, client)
    assert deployer.deploy(resources) == "CREATE_COMPLETE"
    policies = eks.list_associated_access_policies(clusterName=name, principalArn=ROLE)["associatedAccessPolicies"]
    assert [(each["policyArn"], each["accessScope"]) for each in policies] == [
        (EDIT, {"type": "namespace", "namespaces": ["sweep"]})
    ]
    (made,) = eks.list_pod_identity_associations(clusterName=name, serviceAccount="trainer")["associations"]
    assert eks.list_pod_identity_associations(clusterName=name, serviceAccount="other")["associations"] == []
    pods["RoleArn"] = f"{ROLE}2"
    assert deployer.deploy(resources, "UPDATE") == "UPDATE_COMPLETE"
    found = eks.describe_pod_identity_association(clusterName=name, associationId=made["associationId"])
    assert found["association"]["roleArn"] == f"{ROLE}2"
    deployer.delete()
    assert eks.list_pod_identity_associations(clusterName=name)["associations"] == []
    assert ROLE not in eks.list_access_entries(clusterName=name)["accessEntries"]
