"""What infra makes for EKS: the way in for launchers, and the role of pods; nothing where the team sees to it."""

from __future__ import annotations

from typing import Any

from orchestrator.infra.names import ACCOUNT, names
from orchestrator.infra.stacks.template import region_template
from orchestrator.infra.wanted import wanted_of
from orchestrator.platforms.registry import make_operating
from orchestrator.settings.settings import Settings

REGION = "eu-west-1"
ROLE = "arn:aws:iam::123456789012:role/sweep-"


def made(table: dict[str, Any], account: str = "123456789012") -> Any:
    settings = Settings(region=REGION, platforms={"eks": table})
    return make_operating("eks").resources(wanted_of(names(settings, account), "eks", REGION))


def test_launchers_and_conductors_may_edit_the_namespace_and_pods_have_the_role_of_trainings() -> None:
    found = made({"cluster": "prod", "namespace": "vision", "service_account": "trainer"})
    entry = found["EksLauncherAccess"]["Properties"]
    assert (entry["ClusterName"], entry["PrincipalArn"]) == ("prod", f"{ROLE}launcher-{REGION}")
    assert entry["AccessPolicies"] == [
        {
            "PolicyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy",
            "AccessScope": {"Type": "namespace", "Namespaces": ["vision"]},
        }
    ]
    assert found["EksConductorAccess"]["Properties"]["PrincipalArn"] == f"{ROLE}conductor-{REGION}"
    assert found["EksPodRole"]["Properties"] == {
        "ClusterName": "prod",
        "Namespace": "vision",
        "ServiceAccount": "trainer",
        "RoleArn": f"{ROLE}training-{REGION}",
    }


def test_one_role_of_the_team_s_own_for_launchers_and_conductors_gets_one_entry() -> None:
    theirs = "arn:aws:iam::123456789012:role/ours"
    settings = Settings(region=REGION, job_role=theirs, conductor_role=theirs, platforms={"eks": {"cluster": "prod"}})
    wanted = wanted_of(names(settings, "123456789012"), "eks", REGION)
    made = make_operating("eks").resources(wanted)
    assert set(made) == {"EksLauncherAccess", "EksPodRole"}
    assert made["EksLauncherAccess"]["Properties"]["PrincipalArn"] == theirs  # type: ignore[index]


def test_nothing_is_made_without_a_cluster_or_where_the_team_gives_access_itself() -> None:
    assert made({}) == {}
    assert made({"cluster": {"us-east-1": "prod"}}) == {}
    assert made({"cluster": "prod", "access": "given"}) == {}


def test_a_template_lets_cloudformation_fill_in_account_and_partition() -> None:
    settings = Settings(region=REGION, platforms={"eks": {"cluster": "prod"}})
    entry = region_template(names(settings, ACCOUNT), REGION)["Resources"]["EksLauncherAccess"]["Properties"]
    assert entry["PrincipalArn"] == {
        "Fn::Sub": f"arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:role/sweep-launcher-{REGION}"
    }
    (policy,) = entry["AccessPolicies"]
    assert policy["PolicyArn"] == {
        "Fn::Sub": "arn:${AWS::Partition}:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
    }
