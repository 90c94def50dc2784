"""Whatever an account lacks is found, with the command that mends it. What we may not see is not said to lack."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.errors import CatalogError, NotFound
from orchestrator.infra.doctor import buckets, data, dead_letters, identity, images, network, queues, quotas, roles
from orchestrator.infra.doctor.doctor import examine, exit_code, in_force
from orchestrator.infra.doctor.identity import Who
from orchestrator.infra.doctor.need import need_of
from orchestrator.infra.doctor.subject import Data, Need, Subject
from orchestrator.platforms.finding import Finding, ok, warning, wrong
from orchestrator.platforms.wanted import AtOnce
from orchestrator.settings import Settings
from orchestrator.wire.task import Lane, Quota

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.aws.session import Clients
    from orchestrator.plan.plan import Plan

ACCOUNT = "123456789012"
MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": []})
REGION = "eu-west-1"
HERE = {"LocationConstraint": REGION}
SETTINGS = Settings(
    region=REGION,
    bucket="our-control",
    region_bucket="our-data-{region}",
    role=f"arn:aws:iam::{ACCOUNT}:role/our-training",
    job_role=f"arn:aws:iam::{ACCOUNT}:role/our-launcher",
    execution_role=f"arn:aws:iam::{ACCOUNT}:role/our-launcher",
    launcher_image=f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/our-launcher:1",
)


@pytest.fixture
def subject(clients: Clients) -> Subject:
    return Subject(SETTINGS, clients, in_force(SETTINGS, ACCOUNT), Need())


def states(findings: Iterable[Finding]) -> dict[str, str]:
    return {finding.where: finding.state for finding in findings}


def test_a_bucket_is_looked_for_in_its_region_with_versions_and_encryption(subject: Subject) -> None:
    s3 = subject.clients.client("s3", REGION)
    (missing,) = buckets.control(subject)
    assert (missing.state, missing.mend) == ("wrong", f"aws s3 mb s3://our-control --region {REGION}")
    s3.create_bucket(Bucket="our-control", CreateBucketConfiguration=HERE)
    found = {finding.message: finding for finding in buckets.control(subject)}
    bare = found["keeps no versions: what is overwritten is lost"]
    assert bare.state == "warning"
    assert bare.mend.startswith("aws s3api put-bucket-versioning --bucket our-control")
    s3.put_bucket_versioning(Bucket="our-control", VersioningConfiguration={"Status": "Enabled"})
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    s3.put_bucket_encryption(Bucket="our-control", ServerSideEncryptionConfiguration={"Rules": [rule]})
    assert states(buckets.control(subject)) == {"our-control": "ok"}


def test_a_bucket_in_another_region_is_told_with_both(subject: Subject) -> None:
    subject.clients.client("s3", "us-east-1").create_bucket(Bucket="our-data-eu-west-1")
    (found,) = buckets.data(subject)
    assert found.state == "wrong"
    assert "lies in us-east-1, and is used in eu-west-1" in found.message


def make_role(clients: Clients, name: str, service: str) -> None:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    clients.client("iam", REGION).create_role(RoleName=name, AssumeRolePolicyDocument=trust)


def test_a_role_is_looked_for_and_who_may_take_it_on(subject: Subject) -> None:
    assert {finding.message for finding in roles.roles(subject)} == {"not there"}
    make_role(subject.clients, "our-training", "ecs-tasks.amazonaws.com")
    make_role(subject.clients, "our-launcher", "ecs-tasks.amazonaws.com")
    found = {finding.where: finding for finding in roles.roles(subject)}
    assert found["our-launcher"].state == "ok"
    assert found["our-training"].message == "sagemaker.amazonaws.com may not take it on"
    assert "update-assume-role-policy --role-name our-training" in found["our-training"].mend
    assert "sagemaker.amazonaws.com" in found["our-training"].mend
    assert found["our-training"].exit_code == 4


def test_what_the_simulator_denies_is_told_as_simulated(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[str, ...], tuple[str, ...], dict[str, str]]] = []

    def simulate(_c: Any, _r: str, who: str, actions: Any, resources: Any, context: Any) -> list[str]:
        asked.append((who, tuple(actions), tuple(resources), dict(context)))
        return ["iam:PassRole on x"] if "iam:PassRole" in actions else []

    monkeypatch.setattr(roles, "simulate", simulate)
    make_role(subject.clients, "our-training", "sagemaker.amazonaws.com")
    make_role(subject.clients, "our-launcher", "ecs-tasks.amazonaws.com")
    found = {finding.message: finding for finding in roles.permissions(subject)}
    (denied,) = [finding for finding in found.values() if finding.state == "wrong"]
    assert denied.message == "may not, simulated: iam:PassRole on x"
    assert denied.mend.startswith("aws iam put-role-policy --role-name our-launcher")
    assert not [each for _, _, resources, _ in asked for each in resources if "*" in each and each != "*"]
    contexts = {actions: context for _, actions, _, context in asked}
    assert contexts["sagemaker:CreateTrainingJob",] == {"aws:RequestTag/sweep:run": "x"}
    assert contexts["iam:PassRole",] == {"iam:PassedToService": "sagemaker.amazonaws.com"}


LONE = Data("s3://team-eu-west-1/campaigns/alps/v1/", REGION)
PAIR = Data("s3://team-eu-west-1/campaigns/alps/v2/", REGION)
NAMED = Data("s3://drives-us-east-1/coast/v2/", "us-east-1")
TEAM_DENIED = ["s3:ListBucket on arn:aws:s3:::team-eu-west-1"]


def of_data(clients: Clients, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[Finding]:
    """What is found of three folders where the role of trainings may not list the team's bucket."""
    asked: list[tuple[str, str]] = []

    def simulate(_c: Any, _r: str, _w: str, actions: Any, resources: Any, context: Any) -> list[str]:  # noqa: ARG001
        asked.extend((action, resource) for action in actions for resource in resources)
        return TEAM_DENIED if (actions, resources) == (["s3:ListBucket"], ["arn:aws:s3:::team-eu-west-1"]) else []

    monkeypatch.setattr(data, "simulate", simulate)
    names = in_force(settings, ACCOUNT)
    make_role(clients, names.role.rpartition("/")[2], "sagemaker.amazonaws.com")
    found = list(data.data(Subject(settings, clients, names, Need(data=frozenset({LONE, PAIR, NAMED})))))
    assert sorted(asked) == [  # of two datasets beside each other, one stands for both
        ("s3:GetObject", "arn:aws:s3:::drives-us-east-1/coast/v2/x"),
        ("s3:GetObject", "arn:aws:s3:::team-eu-west-1/campaigns/alps/v1/x"),
        ("s3:ListBucket", "arn:aws:s3:::drives-us-east-1"),
        ("s3:ListBucket", "arn:aws:s3:::team-eu-west-1"),
    ]
    assert [(each.where, each.state, each.exit_code) for each in found] == [
        ("drives-us-east-1", "ok", 0),
        ("team-eu-west-1", "wrong", 4),
    ]
    assert TEAM_DENIED[0] in found[1].message
    return found


def test_data_that_trainings_may_not_read_is_told_with_the_setting_that_lets_them(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(region=REGION, infra_table={"data_buckets": ["drives-{region}"]})
    _, denied = of_data(clients, monkeypatch, settings)
    wanted = 'data_buckets = ["drives-{region}", "team-{region}"]'
    assert denied.mend == f"write `{wanted}` below [infra] in sweep.toml, then sweep infra deploy"


def test_data_that_the_settings_name_and_the_role_does_not_have_yet_is_to_be_deployed(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(region=REGION, infra_table={"data_buckets": ["drives-{region}", "team-{region}"]})
    assert of_data(clients, monkeypatch, settings)[1].mend.startswith("sweep infra deploy")


def test_a_role_of_the_team_s_own_is_granted_data_by_a_policy(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, denied = of_data(clients, monkeypatch, SETTINGS)
    assert denied.mend.startswith("aws iam put-role-policy --role-name our-training --policy-name data ")
    assert '"Resource":["arn:aws:s3:::team-eu-west-1","arn:aws:s3:::team-eu-west-1/*"]' in denied.mend


@pytest.mark.parametrize(
    ("arn", "principal"),
    [
        (f"arn:aws:iam::{ACCOUNT}:user/ann", f"arn:aws:iam::{ACCOUNT}:user/ann"),
        (f"arn:aws:sts::{ACCOUNT}:assumed-role/dev/ann", f"arn:aws:iam::{ACCOUNT}:role/dev"),
        (f"arn:aws:iam::{ACCOUNT}:root", ""),
    ],
)
def test_the_simulator_knows_us_by_our_user_or_role(arn: str, principal: str) -> None:
    assert Who(ACCOUNT, arn, 0).principal == principal


@pytest.mark.parametrize(("ahead", "state"), [(0, "ok"), (-70, "warning"), (400, "wrong"), (-400, "wrong")])
def test_a_clock_may_be_a_little_wrong(ahead: float, state: str) -> None:
    assert identity.clock(Who(ACCOUNT, "a", ahead)).state == state


def test_settings_of_another_account_are_told() -> None:
    (found,) = identity.credentials(Who("999999999999", "a", 0), SETTINGS)
    assert (found.state, found.exit_code) == ("wrong", 4)


def test_an_image_is_looked_for_where_it_is_pulled(subject: Subject) -> None:
    (missing,) = images.images(subject)
    assert (missing.state, missing.mend[-len(REGION) :]) == ("wrong", REGION)
    ecr = subject.clients.client("ecr", REGION)
    ecr.create_repository(repositoryName="our-launcher")
    ecr.put_image(repositoryName="our-launcher", imageTag="1", imageManifest=MANIFEST)
    (there,) = images.images(subject)
    assert there.state == "ok"


def of_nights(clients: Clients, **said: str) -> Subject:
    settings = replace(SETTINGS, **said)  # type: ignore[arg-type]
    return Subject(settings, clients, in_force(settings, ACCOUNT), Need(nights=True))


def test_nights_need_an_image_and_two_roles_and_nothing_else_asks_for_them(clients: Clients, subject: Subject) -> None:
    nights = of_nights(clients)
    (unset,) = [finding for finding in images.images(nights) if finding.where == "conductor_image"]
    assert (unset.state, unset.exit_code) == ("wrong", 1)
    assert unset.mend.endswith(f"sweep images push sweep-conductor:1 --to {REGION}")
    assert states(roles.roles(nights)).keys() - states(roles.roles(subject)).keys() == {"sweep-schedule-eu-west-1"}
    image = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/sweep-conductor:1"
    named = Subject(replace(SETTINGS, conductor_image=image), clients, subject.names, Need())
    assert {finding.where: finding.message for finding in images.images(named)}[image] == "not there"
    assert "sweep-schedule-eu-west-1" in states(roles.roles(named))


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("our-dead", "name one that is there as `schedule_dead_letters` in sweep.toml"),
        ("sweep-schedules-dead", "sweep infra deploy"),
    ],
)
def test_the_queue_for_dead_letters_is_looked_for_where_there_are_nights(
    clients: Clients, subject: Subject, name: str, mend: str
) -> None:
    arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
    nights = of_nights(clients, schedule_dead_letters=arn)
    (missing,) = dead_letters.dead_letters(nights)
    assert (missing.where, missing.state, missing.message, missing.mend) == (arn, "wrong", "not there", mend)
    clients.client("sqs", REGION).create_queue(QueueName=name)
    assert states(dead_letters.dead_letters(nights)) == {arn: "ok"}
    assert list(dead_letters.dead_letters(subject)) == []


def test_nights_without_a_queue_for_dead_letters_are_warned_of(clients: Clients) -> None:
    (unset,) = dead_letters.dead_letters(of_nights(clients))
    assert (unset.where, unset.state, unset.mend) == ("schedule_dead_letters", "warning", "sweep infra deploy")


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        ({}, "sweep infra deploy"),
        (
            {"conductor_role": f"arn:aws:iam::{ACCOUNT}:role/our-conductor"},
            "aws iam put-role-policy --role-name our-conductor",
        ),
    ],
    ids=["launchers' role stands in", "a role of its own"],
)
def test_a_conductor_s_role_has_to_grant_what_submitting_needs(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, said: dict[str, str], mend: str
) -> None:
    monkeypatch.setattr(roles, "simulate", lambda *asked: [*asked[3]] if "batch:SubmitJob" in asked[3] else [])
    name = said.get("conductor_role", SETTINGS.job_role or "").rpartition("/")[2]
    make_role(clients, name, "ecs-tasks.amazonaws.com")
    denied = [finding for finding in roles.permissions(of_nights(clients, **said)) if finding.state == "wrong"]
    (found,) = denied
    assert (found.where, found.exit_code) == (name, 4)
    assert "batch:SubmitJob" in found.message
    assert found.mend.startswith(mend)


def test_a_sweep_with_a_schedule_has_nights_though_it_cannot_be_planned() -> None:
    def fail() -> Plan:
        raise CatalogError("no prices")

    need, found = need_of(fail, "sweep.yaml", nights=True)
    assert (need.nights, found.state) == (True, "wrong")


def test_launchers_need_a_way_out_and_a_nat_costs(subject: Subject) -> None:
    ec2 = subject.clients.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    (closed,) = network.ways_to_s3(subject, [subnet])
    assert (closed.state, "has no way out" in closed.message) == ("wrong", True)
    (table,) = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    ec2.create_route(RouteTableId=table["RouteTableId"], DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    (dear,) = network.ways_to_s3(subject, [subnet])
    assert (dear.state, "$0.045" in dear.message) == ("warning", True)
    assert dear.mend.startswith(f"aws ec2 create-vpc-endpoint --vpc-id {vpc}")
    ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", RouteTableIds=[table["RouteTableId"]])
    assert states(network.ways_to_s3(subject, [subnet, "subnet-0123456789abcdef0"])) == {
        subnet: "ok",
        "subnet-0123456789abcdef0": "wrong",
    }


class OneEnvironment:
    """Batch with one queue, as small as it can be, beside a Fargate quota."""

    def __init__(self, vcpus: int, quota: float) -> None:
        self.vcpus, self.quota = vcpus, quota

    def client(self, service: str, _region: str) -> Any:  # noqa: ARG002
        return self

    def describe_job_queues(self, jobQueues: list[str]) -> Any:  # noqa: N803
        order = [{"order": 1, "computeEnvironment": "e"}]
        queue = {"jobQueueName": jobQueues[0], "state": "ENABLED", "status": "VALID", "computeEnvironmentOrder": order}
        return {"jobQueues": [queue]}

    def describe_compute_environments(self, computeEnvironments: list[str]) -> Any:  # noqa: N803
        resources = {"maxvCpus": self.vcpus, "subnets": [], "securityGroupIds": []}
        name = computeEnvironments[0]
        found = {"computeEnvironmentName": name, "state": "ENABLED", "status": "VALID", "computeResources": resources}
        return {"computeEnvironments": [found]}

    def get_paginator(self, _name: str) -> Any:
        return self

    def paginate(self, **_: Any) -> Any:
        return [{"Quotas": [{"QuotaName": "Fargate On-Demand vCPU resource count", "Value": self.quota}]}]


@pytest.mark.parametrize(
    ("vcpus", "quota", "tasks", "environment", "fargate"),
    [
        (64, 1000.0, 200, "ok", "ok"),
        (64, 1000.0, 300, "warning", "ok"),
        (64, 6.0, 200, "ok", "wrong"),
        (64, 6.0, 0, "ok", "warning"),
        (64, 6.0, 24, "ok", "ok"),
    ],
)
def test_a_plan_wants_launchers_that_the_environment_and_fargate_bear(
    vcpus: int, quota: float, tasks: int, environment: str, fargate: str
) -> None:
    account: Any = OneEnvironment(vcpus, quota)
    subject = Subject(
        SETTINGS,
        account,
        in_force(SETTINGS, ACCOUNT),
        Need(at_once=(AtOnce(Lane.parse("sagemaker/eu-west-1/ml.c5.xlarge/on_demand"), tasks, tasks),)),
    )
    found = {finding.about: finding for finding in queues.queues(subject)}
    assert (found["environment"].state, found["quota"].state) == (environment, fargate)
    assert found["quota"].exit_code == (6 if fargate == "wrong" else 0)


class LiveQuotas:
    """Service Quotas, with one quota of SageMaker's; or that may not be asked."""

    def __init__(self, value: float | None) -> None:
        self.value = value

    def client(self, service: str, _region: str) -> Any:
        assert service == "service-quotas"
        return self

    def get_paginator(self, _name: str) -> Any:
        return self

    def paginate(self, **_: Any) -> Any:
        if self.value is None:
            denied = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
            raise ClientError(denied, "ListServiceQuotas")  # type: ignore[arg-type]
        name = "ml.m5.xlarge for spot training job usage"
        return [{"Quotas": [{"QuotaName": name, "Value": self.value, "QuotaCode": "L-1", "Adjustable": True}]}]


@pytest.mark.parametrize(
    ("live", "state", "message"),
    [
        (10.0, "ok", "ml.m5.xlarge/spot: 10, and the plan takes 8"),
        (4.0, "wrong", "ml.m5.xlarge/spot: 4 now, and the plan takes 8: the catalog knows an older one"),
        (None, "warning", "sagemaker's were not looked at"),
    ],
)
def test_a_plan_is_held_against_quotas_as_aws_has_them_now(live: float | None, state: str, message: str) -> None:
    account: Any = LiveQuotas(live)
    need = Need(units={Quota("sagemaker", REGION, "ml.m5.xlarge/spot"): 8})
    (found,) = quotas.quotas(Subject(SETTINGS, account, in_force(SETTINGS, ACCOUNT), need))
    assert found.state == state
    assert message in found.message
    if state == "wrong":
        assert found.exit_code == 6
        raise_it = "aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-1"
        assert found.mend == f"{raise_it} --desired-value 8 --region {REGION}"


def test_a_quota_that_aws_tells_nothing_of_is_no_reason_to_stop() -> None:
    account: Any = LiveQuotas(4.0)
    need = Need(units={Quota("sagemaker", REGION, "ml.p5.48xlarge/spot"): 8})
    (found,) = quotas.quotas(Subject(SETTINGS, account, in_force(SETTINGS, ACCOUNT), need))
    assert (found.state, found.mend) == ("warning", "sweep catalog refresh")


def test_a_total_that_aws_does_not_tell_bounds_nothing() -> None:
    account: Any = LiveQuotas(4.0)
    need = Need(units={Quota("sagemaker", REGION, "*/spot"): 8})
    (found,) = quotas.quotas(Subject(SETTINGS, account, in_force(SETTINGS, ACCOUNT), need))
    assert (found.state, found.mend) == ("ok", "")


def test_credentials_that_the_simulator_does_not_know_stop_nothing(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate(*_: Any) -> list[str]:
        raise NotFound("there is no such user")

    monkeypatch.setattr(roles, "simulate", simulate)
    (found,) = roles.permissions(replace(subject, principal="arn:aws:iam::123456789012:user/root"))
    assert (found.state, found.where) == ("warning", "arn:aws:iam::123456789012:user/root")
    assert "no user or role that IAM's simulator knows" in found.message


@pytest.mark.parametrize(
    ("regions", "mend"),
    [
        (("eu-west-1",), "sweep infra deploy --region ANOTHER"),
        (("eu-west-1", "us-east-1"), "sweep infra destroy --region eu-west-1"),
    ],
)
def test_a_region_without_a_platform_is_to_be_left(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, regions: tuple[str, ...], mend: str
) -> None:
    monkeypatch.setattr(
        "orchestrator.platforms.sagemaker.operating.SageMakerOperating.regions", lambda *_: ["us-east-1"]
    )
    found = list(identity.regions(replace(subject, names=replace(subject.names, regions=regions))))
    assert next((each.state, each.mend) for each in found) == ("wrong", mend)


def test_what_we_may_not_look_at_is_not_said_to_be_missing(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetRole")

    iam = subject.clients.client("iam", REGION)
    monkeypatch.setattr(iam, "get_role", denied)
    monkeypatch.setattr("orchestrator.infra.doctor.doctor.Clients", lambda _: subject.clients)
    found = [finding for finding in examine(SETTINGS, Need()) if finding.about in ("role", "permission")]
    assert {finding.state for finding in found} == {"warning"}
    assert all("that is not granted" in finding.message for finding in found)


def test_without_credentials_nothing_else_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    (found,) = examine(SETTINGS, Need())
    assert (found.about, found.mend, exit_code([found])) == ("credentials", "aws sso login", 4)
    assert "sweep local up -d" in found.message


def test_permissions_count_before_quotas_and_these_before_the_rest() -> None:
    other, quota = wrong("a", "b", "c", "d"), wrong("a", "b", "c", "d", 6)
    permission = wrong("a", "b", "c", "d", 4)
    assert exit_code([ok("a", "b", "c"), warning("a", "b", "c")]) == 0
    assert exit_code([other, quota, permission]) == 4
    assert exit_code([other, quota]) == 6
    assert exit_code([other]) == 1


def test_one_role_stands_in_for_all_and_runs_go_to_the_queue_in_force() -> None:
    by_hand = Settings(region=REGION, bucket="b", role=SETTINGS.role, queue="sweep")
    known = in_force(by_hand, ACCOUNT)
    assert (known.job_role, known.execution_role) == (SETTINGS.role, SETTINGS.role)
    assert (known.queue, known.lane_queue) == ("sweep", "sweep")
