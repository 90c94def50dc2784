"""Whatever a cluster lacks is found, with the one command that mends it. What we may not see is not said to lack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import Unreachable
from orchestrator.platforms.account.wanted import AtOnce, Wanted
from orchestrator.platforms.eks.account import check as checks
from orchestrator.platforms.eks.account import cluster
from orchestrator.platforms.eks.account.subject import Subject
from orchestrator.platforms.eks.asked import Settings
from orchestrator.platforms.eks.kube.api import ACCOUNTS, CLAIMS, LIMITS, NAMESPACES
from orchestrator.platforms.eks.kube.clusters import open_cluster
from orchestrator.platforms.registry import make_operating
from orchestrator.wire.task import Lane, Purchase
from tests.platforms.eks.conftest import REGION
from tests.platforms.sweeps import sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud
    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.eks.kube.api import KubeApi

ROLE = "arn:aws:iam::123456789012:role/sweep-training"
ARN = f"arn:aws:eks:{REGION}:123456789012:cluster/sweep"
QUEUES = "kueue.x-k8s.io/v1beta2/localqueues"
EDIT = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
NODES = Lane("eks", REGION, "c5.xlarge", Purchase.SPOT)


@pytest.fixture
def api(cloud_environment: dict[str, str]) -> KubeApi:  # noqa: ARG001 - it leads to the cloud
    return open_cluster(Clients(), REGION, "sweep")


@pytest.fixture
def wanted(cloud_environment: dict[str, str], client: Callable[..., Any], name: str) -> Wanted:  # noqa: ARG001
    """A namespace and a launcher of this test alone, of which nothing is there yet."""
    launcher = client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    settings = {"cluster": "sweep", "namespace": name, "access": "given"}
    return Wanted(REGION, settings, ROLE, (launcher,), principal="arn:aws:iam::123456789012:user/ann")


def look(wanted: Wanted) -> list[Finding]:
    return list(make_operating("eks").check(Clients(), wanted))


def of(found: list[Finding], about: str) -> Finding:
    (one,) = [finding for finding in found if finding.about == about]
    return one


def make(api: KubeApi, kind: str, namespace: str, name: str, spec: dict[str, Any] | None = None) -> None:
    group = kind.rpartition("/")[0]
    kinds = {NAMESPACES: "Namespace", ACCOUNTS: "ServiceAccount", CLAIMS: "PersistentVolumeClaim"}
    kinds |= {LIMITS: "ResourceQuota", QUEUES: "LocalQueue"}
    body = {"apiVersion": group, "kind": kinds[kind], "metadata": {"name": name}, "spec": spec or {}}
    api.create(kind, namespace, body)


def test_each_thing_that_is_missing_is_found_with_its_command_and_is_well_once_it_is_there(
    api: KubeApi, wanted: Wanted, client: Callable[..., Any], name: str
) -> None:
    eks, launcher = client("eks", REGION), wanted.launchers[0]
    asked = {"queue": "fair", "volumes": {"data": {"claim": "fsx", "path": "/fsx"}}}
    wanted = replace(wanted, settings={**wanted.settings, **asked})

    found = look(wanted)
    assert "with Kubernetes 1.35" in of(found, "cluster").message
    entry = next(one for one in found if one.about == "access" and one.where == name)
    assert (entry.state, entry.exit_code) == ("wrong", 4)
    assert entry.mend == (
        f"aws eks create-access-entry --cluster-name sweep --principal-arn {launcher} --region {REGION}"
    )
    missing = of(found, "namespace")
    assert (missing.state, missing.mend) == ("wrong", f"kubectl --context {ARN} create namespace {name}")
    assert found[-1] == missing  # what would be in it is not asked for

    make(api, NAMESPACES, "", name)
    eks.create_access_entry(clusterName="sweep", principalArn=launcher)
    found = look(wanted)
    assert of(found, "namespace").state == "ok"
    entry = next(one for one in found if one.where == name)
    scope = f"--access-scope type=namespace,namespaces={name}"
    assert entry.mend.endswith(f"--principal-arn {launcher} --policy-arn {EDIT} {scope} --region {REGION}")
    account = of(found, "service account")
    assert account.mend == f"kubectl --context {ARN} create serviceaccount sweep-training --namespace {name}"
    role = of(found, "pod role")
    assert (role.state, role.exit_code) == ("wrong", 4)
    assert f"--service-account sweep-training --role-arn {ROLE}" in role.mend
    assert of(found, "queue").message.startswith("Kueue has no LocalQueue fair")
    assert "no such PersistentVolumeClaim" in of(found, "volume").message

    make(api, ACCOUNTS, name, "sweep-training")
    make(api, CLAIMS, name, "fsx")
    make(api, QUEUES, name, "fair")
    scope_of_policy = {"type": "namespace", "namespaces": [f"{name[:4]}*"]}
    eks.associate_access_policy(clusterName="sweep", principalArn=launcher, policyArn=EDIT, accessScope=scope_of_policy)
    other = {"clusterName": "sweep", "namespace": name, "serviceAccount": "sweep-training"}
    made = eks.create_pod_identity_association(**other, roleArn=launcher)["association"]
    found = look(wanted)
    role = of(found, "pod role")
    assert (role.state, f"--association-id {made['associationId']} --role-arn {ROLE}" in role.mend) == ("warning", True)
    assert {finding.state for finding in found if finding is not role} == {"ok"}

    eks.update_pod_identity_association(clusterName="sweep", associationId=made["associationId"], roleArn=ROLE)
    assert {finding.state for finding in look(wanted)} == {"ok"}


@pytest.mark.usefixtures("cloud_environment")
def test_the_local_cloud_s_own_cluster_lacks_nothing() -> None:
    launcher = "arn:aws:iam::123456789012:role/sweep-launcher"
    wanted = Wanted(REGION, {"cluster": "sweep"}, ROLE, (launcher,))
    assert {(one.about, one.state) for one in look(wanted) if one.state != "ok"} == set()


def test_infra_makes_what_lets_launchers_in_unless_the_team_does(wanted: Wanted) -> None:
    wanted = replace(wanted, settings={"cluster": "sweep", "namespace": "sweep"})
    entry = next(one for one in look(wanted) if one.about == "access")
    assert (entry.state, entry.mend) == ("wrong", "sweep infra deploy")


def test_who_may_not_look_is_told_so_and_nothing_is_said_to_be_missing(cloud: LocalCloud, wanted: Wanted) -> None:
    wanted = replace(wanted, settings={"cluster": "sweep"})
    with cloud.fault("deny", "eks:ListPodIdentityAssociations"), cloud.fault("deny", "kubernetes:GetNamespace"):
        found = look(wanted)
    hidden = [of(found, about) for about in ("namespace", "pod role")]
    assert {one.state for one in hidden} == {"warning"}
    assert all("not looked at, for that is not granted" in one.message for one in hidden)


def test_who_has_no_access_entry_is_told_how_to_get_one(
    client: Callable[..., Any], wanted: Wanted, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    iam = client("iam")
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
    wanted = replace(wanted, principal=f"arn:aws:iam::123456789012:user/{name}")
    unknown = next(one for one in look(wanted) if one.message.startswith("it does not know us"))
    assert (unknown.state, unknown.exit_code) == ("wrong", 4)
    assert unknown.mend == (
        f"aws eks create-access-entry --cluster-name sweep --principal-arn {wanted.principal} --region {REGION}"
    )
    eks = client("eks", REGION)
    eks.create_access_entry(clusterName="sweep", principalArn=wanted.principal)
    found = look(replace(wanted, settings={"cluster": "sweep"}))
    (may_not,) = [one for one in found if "we may not create jobs, get jobs" in one.message]
    assert f"--policy-arn {EDIT} --access-scope type=namespace,namespaces=sweep" in may_not.mend
    (everywhere,) = [one for one in found if one.message.startswith("we may not list nodes")]
    assert (everywhere.state, everywhere.mend.endswith("--access-scope type=cluster --region eu-west-1")) == (
        "warning",
        True,
    )


def test_a_quota_of_the_namespace_is_held_against_the_plan(api: KubeApi, wanted: Wanted, name: str) -> None:
    make(api, NAMESPACES, "", name)
    make(api, LIMITS, name, "few", {"hard": {"pods": "4", "requests.cpu": "6"}})
    bears = replace(wanted, at_once=(AtOnce(NODES, 1, 2),))  # two pods of 3 processors each
    assert of(look(bears), "quota").message == "bears what the plan takes at once"
    over = of(look(replace(wanted, at_once=(AtOnce(NODES, 3, 3),))), "quota")
    assert (over.state, over.exit_code) == ("wrong", 6)
    assert over.message == "requests.cpu: 6, and the plan takes 9"
    assert over.mend.endswith('--patch \'{"spec": {"hard": {"requests.cpu": "9"}}}\'')


@pytest.mark.parametrize(
    ("lane", "instances", "state", "says"),
    [
        (NODES, 8, "ok", "8 of c5.xlarge spot; the plan takes 8"),
        (NODES, 9, "wrong", "at most 8 of c5.xlarge spot, and the plan takes 9"),
        (
            replace(NODES, instance_type="c5.9xlarge"),
            1,
            "wrong",
            "none of c5.9xlarge spot, and no group makes any",
        ),
    ],
)
def test_the_nodes_of_each_lane_are_counted(wanted: Wanted, lane: Lane, instances: int, state: str, says: str) -> None:
    wanted = replace(wanted, settings={"cluster": "sweep"}, at_once=(AtOnce(lane, instances, instances),))
    found = of(look(wanted), "nodes")
    assert (found.state, says in found.message) == (state, True)


def test_a_cluster_that_is_not_there_or_not_named_is_told(wanted: Wanted) -> None:
    (gone,) = look(replace(wanted, settings={"cluster": "prod"}))
    assert (gone.state, gone.mend) == ("wrong", f"aws eks list-clusters --region {REGION}")
    (unnamed,) = look(replace(wanted, settings={}))
    assert (unnamed.state, unnamed.message) == ("warning", "none is named: nothing is planned on EKS")
    assert look(replace(wanted, settings={"cluster": {"us-east-1": "prod"}})) == []


def test_what_a_sweep_asks_for_itself_is_looked_at(wanted: Wanted) -> None:
    asked = sweep(where={"platforms": ["eks"]}, platforms={"eks": {"queue": "nobodys", "namespace": "sweep"}})
    assert of(look(replace(wanted, sweep=asked)), "queue").where == "sweep/sweep/nobodys"


class Described:
    """A cluster that EKS describes so, and that does not answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **told: Any) -> None:
        body = {"name": "prod", "arn": ARN, "status": "ACTIVE", **told}
        monkeypatch.setattr(checks, "describe_cluster", lambda *_: body)
        monkeypatch.setattr(checks, "open_described", lambda *_: self)
        monkeypatch.setattr(checks.access, "launchers", lambda _: iter(()))

    def version(self) -> tuple[int, int]:
        raise Unreachable("no answer: timed out")


def test_a_cluster_that_is_not_reached_from_here_is_no_cluster_that_is_not_there(
    wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    Described(monkeypatch)
    (found,) = look(replace(wanted, settings={"cluster": "prod"}))
    assert found.message == "is not reached from this machine: no answer: timed out"
    assert found.mend == f"aws eks describe-cluster --name prod --region {REGION} --query cluster.resourcesVpcConfig"


def test_a_cluster_that_is_being_made_or_knows_no_access_entries_is_told(
    wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    Described(monkeypatch, status="CREATING", accessConfig={"authenticationMode": "CONFIG_MAP"})
    making, mode = look(replace(wanted, settings={"cluster": "prod"}))
    assert making.mend == f"aws eks wait cluster-active --name prod --region {REGION}"
    assert "authenticationMode=API_AND_CONFIG_MAP" in mode.mend


def test_an_old_kubernetes_is_told(wanted: Wanted) -> None:
    clients: Any = None
    subject = Subject(clients, wanted, Settings(), Settings(), {"name": "prod"}, "sweep", "sweep-training")
    old, new = cluster.version(subject, (1, 29)), cluster.version(subject, (1, 31))
    assert (old.state, new.state) == ("wrong", "ok")
    assert old.mend.endswith("--kubernetes-version 1.31")
