"""A sweep in a cluster of EKS, under exactly the policies, the access and the role of pods that `infra` deploys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.images import launcher
from orchestrator.infra.names import names
from orchestrator.infra.policies import policy
from orchestrator.platforms.eks.kube.api import ACCOUNTS, NAMESPACES
from orchestrator.platforms.eks.kube.clusters import open_cluster
from orchestrator.settings.settings import Settings
from tests.cli.held_account import ACCOUNT, CONTROL, NETWORK, REGION, Account
from tests.images.parts import FILES
from tests.infra.replay import actions, refused

if TYPE_CHECKING:
    from tests.cli.calls import Ended, Sweep

TABLE = {"cluster": "prod"}
KNOWN = names(Settings(region=CONTROL, platforms={"eks": TABLE}), ACCOUNT)
POLICY = "arn:aws:eks::aws:cluster-access-policy/"
SWEEP = f"""
name: pods
train:
  source: src
  entry_point: train.py
  image: python:3.12
  metrics:
    loss: 'loss=([0-9.]+)'
data: {{campaigns: [berlin]}}
space:
  batch: [32, 64]
objective: {{minimize: loss}}
where: {{platforms: [eks], regions: [{REGION}], instance_types: [c5.xlarge], purchases: [on_demand]}}
runtime: 0.001
timeout: 1h
"""
TRAIN = """
import json, os
from pathlib import Path

assert list(Path(os.environ["SM_CHANNEL_TRAINING"]).iterdir())
Path(os.environ["SM_MODEL_DIR"], "model.json").write_text("{}")
print("loss=0.5")
"""


def make_cluster(account: Account) -> None:
    """Do what the owner of a cluster does: it has no nodes yet, and room for two."""
    eks = account.client("eks", REGION)
    role = f"arn:aws:iam::{ACCOUNT}:role/x"
    eks.create_cluster(name="prod", roleArn=role, resourcesVpcConfig={"subnetIds": ["subnet-1", "subnet-2"]})
    sizes = {"minSize": 0, "desiredSize": 0, "maxSize": 2}
    eks.create_nodegroup(
        clusterName="prod", nodegroupName="cpus", scalingConfig=sizes, instanceTypes=["c5.xlarge"],
        subnets=["subnet-1"], nodeRole=role,
    )  # fmt: skip
    api = open_cluster(Clients(), REGION, "prod")
    api.create(NAMESPACES, "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "sweep"}})
    ours = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sweep-training"}}
    api.create(ACCOUNTS, "sweep", ours)


def let_in(account: Account) -> None:
    """Let those in who submit, and those who refresh look at everything."""
    eks = account.client("eks", REGION)
    scopes = {
        "submit": ("AmazonEKSEditPolicy", {"type": "namespace", "namespaces": ["sweep"]}),
        "refresh": ("AmazonEKSAdminViewPolicy", {"type": "cluster"}),
    }
    for who, (granted, scope) in scopes.items():
        entry = {"clusterName": "prod", "principalArn": f"arn:aws:iam::{ACCOUNT}:user/{who}"}
        eks.create_access_entry(**entry)
        eks.associate_access_policy(**entry, policyArn=f"{POLICY}{granted}", accessScope=scope)


def make_ready(sweep: Sweep, account: Account) -> None:
    account.be("owner")
    account.monkeypatch.setattr(launcher, "installed_files", lambda: FILES)
    make_cluster(account)
    sweep("init")
    with Path("sweep.toml").open("a") as settings:
        settings.write(f'{NETWORK}\n[platforms.eks]\ncluster = "prod"\n')
    deployed = sweep("infra", "deploy", "--region", REGION, "--yes")
    assert deployed.code == 0, deployed.err
    account.hire()
    let_in(account)
    Path("sweep.yaml").write_text(SWEEP)
    Path("src/train.py").write_text(TRAIN)
    data = f"sweep-data-{ACCOUNT}-{REGION}"
    account.client("s3", REGION).put_object(Bucket=data, Key="campaigns/berlin/v1/drive.csv", Body=b"1,2,3\n")


def of_eks(looked: Ended) -> dict[str, str]:
    """The states of what the doctor has found of EKS, by what it is about."""
    about = ("cluster", "access", "namespace", "service account", "pod role", "nodes")
    return {f"{one['about']} {one['where']}": one["state"] for one in json.loads(looked.out) if one["about"] in about}


@pytest.mark.long
def test_pods_train_under_the_role_that_infra_deploys_and_nobody_is_refused(sweep: Sweep, account: Account) -> None:
    make_ready(sweep, account)
    account.be("refresh")
    refreshed = sweep("catalog", "refresh", "eks-prices", "eks-nodes")
    assert refreshed.code == 0, refreshed.err
    account.be("submit")
    found = sweep("catalog", "discover", f"s3://sweep-data-{ACCOUNT}-{REGION}/campaigns/")
    assert found.code == 0, found.err
    ran = sweep("submit", "sweep.yaml", "--yes", "--name", "first", "--watch")
    assert ran.code == 0, ran.err + sweep("why", "first").out
    rows: list[Any] = json.loads(sweep("results", "first", "--json").out)
    assert [row["state"] for row in rows] == ["done", "done"]
    assert sweep("logs", "first").code == 0

    asked = account.asked()
    for role in ("submit", "launcher", "training"):
        assert refused(policy(role, KNOWN), asked[role]) == [], role
    needed = {"s3:GetObject", "s3:ListBucket", "s3:PutObject", "logs:CreateLogStream", "logs:PutLogEvents"}
    assert needed <= {each["action"] for each in asked["training"]} & actions(policy("training", KNOWN))

    account.be("owner")
    states = of_eks(sweep("doctor", "sweep.yaml", "--json"))
    assert len(states) >= 7
    assert set(states.values()) == {"ok"}, states
    eks = account.client("eks", REGION)
    (made,) = eks.list_pod_identity_associations(clusterName="prod")["associations"]
    eks.delete_pod_identity_association(clusterName="prod", associationId=made["associationId"])
    states = of_eks(sweep("doctor", "--json"))
    assert states["pod role prod/sweep/sweep-training"] == "wrong"
