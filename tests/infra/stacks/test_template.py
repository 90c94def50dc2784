"""Templates are what CloudFormation takes, keep what must be kept, and leave out what a team has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.infra.infra import Infra
from orchestrator.infra.managed import managed_policies
from orchestrator.infra.names import ACCOUNT, names
from orchestrator.infra.policies import ROLES, policy
from orchestrator.infra.stacks.template import LONGEST, control_template, region_template
from orchestrator.platforms.registry import platforms
from orchestrator.settings.settings import Settings
from tests.infra.replay import refused

OURS = Settings(region="us-east-1")
REGIONS = ["us-east-1", "eu-west-1"]
GIVEN: dict[str, Any] = {
    "bucket": "our-control",
    "region_bucket": "our-data-{region}",
    "role": "arn:aws:iam::123456789012:role/our/training",
    "job_role": "arn:aws:iam::123456789012:role/our-launcher",
    "execution_role": "arn:aws:iam::123456789012:role/our-start",
    "queue": "our-queue",
    "lane_queue": "our-queue-{region}",
    "launcher_image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/our-launcher:7",
    "log_group": "/our/logs",
    "schedule_group": "our-nights",
    "schedule_role": "arn:aws:iam::123456789012:role/our-schedule",
    "schedule_dead_letters": "arn:aws:sqs:us-east-1:123456789012:our-dead-letters",
    "conductor_role": "arn:aws:iam::123456789012:role/our-conductor",
    "topic": "arn:aws:sns:us-east-1:123456789012:our-notices",
}
KEY = "arn:aws:kms:{region}:123456789012:key/mrk-0123456789abcdef0123456789abcdef"
NETWORK = {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]}
BOUNDARY = "arn:aws:iam::123456789012:policy/our-boundary"


def control(settings: Settings) -> dict[str, Any]:
    return control_template(names(settings, ACCOUNT))


def of_type(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each for each in template["Resources"].values() if each["Type"] == kind]


def listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def test_platforms_have_queues_of_their_own_where_the_settings_say_so() -> None:
    tables: dict[str, Any] = {"platforms": {"eks": {}, "sagemaker": {}}, "infra_table": {"regions": REGIONS}}
    of_regions = {"sweep-tasks", *(f"sweep-tasks-{region}" for region in REGIONS)}
    apart = {f"sweep-tasks-{platform}-{region}" for platform in ("eks", "sagemaker") for region in REGIONS}
    for lane_queue, wanted in (
        (None, of_regions),
        ("sweep-tasks-{region}", of_regions),
        # Runs that are under way wait in those of Regions: they stay.
        ("sweep-tasks-{platform}-{region}", of_regions | apart),
        ("our-{platform}-{region}", {"sweep-tasks"}),
    ):
        template = control(Settings(region="us-east-1", lane_queue=lane_queue, **tables))
        made = [each["Properties"]["JobQueueName"] for each in of_type(template, "AWS::Batch::JobQueue")]
        assert (set(made), len(made)) == (wanted, len(wanted))


@pytest.mark.parametrize(
    "settings",
    [
        Settings(region="us-east-1", infra_table={"regions": REGIONS}),
        Settings(region="eu-west-1", infra_table={"kms_key": KEY, "permissions_boundary": BOUNDARY, **NETWORK}),
        Settings(region="eu-west-1", platforms={"ec2": {}}, model_registry=True),
    ],
    ids=["all ours", "network, key and boundary given", "on instances, with a registry of models"],
)
def test_cloudformation_s_own_linter_has_nothing_to_say(settings: Settings) -> None:
    from cfnlint.api import lint  # takes most of a second: no other worker needs it
    from cfnlint.core import get_rules

    for region in (None, settings.region):
        found = lint(Infra(settings).template(region), get_rules([], [], ["W", "E"], {}), [settings.region])
        assert [str(match) for match in found] == []


def test_a_template_for_thirty_regions_is_short_enough() -> None:
    many = Settings(region="us-east-1", infra_table={"regions": [f"us-east-{n}" for n in range(1, 31)]})
    assert len(Infra(many).template().encode()) <= LONGEST


def test_no_rule_of_a_bucket_takes_away_what_was_written_last() -> None:
    for template in (control(OURS), region_template(names(OURS, ACCOUNT), "us-east-1")):
        (bucket,) = of_type(template, "AWS::S3::Bucket")
        assert bucket["Properties"]["VersioningConfiguration"] == {"Status": "Enabled"}
        for rule in bucket["Properties"]["LifecycleConfiguration"]["Rules"]:
            takes = rule.keys() - {"Id", "Status"}
            assert takes <= {
                "NoncurrentVersionExpiration",
                "ExpiredObjectDeleteMarker",
                "AbortIncompleteMultipartUpload",
            }


def test_what_holds_data_stays_when_its_stack_goes_and_nothing_else_does() -> None:
    kept = {
        each["Type"]
        for template in (control(OURS), region_template(names(OURS, ACCOUNT), "us-east-1"))
        for each in template["Resources"].values()
        if each.get("DeletionPolicy") == "RetainExceptOnCreate" and each.get("UpdateReplacePolicy") == "Retain"
    }
    assert kept == {"AWS::S3::Bucket", "AWS::ECR::Repository", "AWS::Logs::LogGroup"}


def test_the_roles_have_the_policies_that_the_code_knows() -> None:
    template = control(OURS)
    known = names(OURS, ACCOUNT)
    for logical, role in (("TrainingRole", "training"), ("LauncherRole", "launcher")):
        (inline,) = template["Resources"][logical]["Properties"]["Policies"]
        plain = json.loads(json.dumps(inline["PolicyDocument"]), object_hook=lambda each: each.get("Fn::Sub", each))
        assert plain == policy(role, known)


def test_what_the_settings_name_is_not_made() -> None:
    template = control(Settings(region="us-east-1", **GIVEN))
    assert sorted(template["Resources"]) == ["ImagesPolicy", "RefreshPolicy", "SchedulesPolicy", "SubmitPolicy"]
    region = region_template(names(Settings(region="us-east-1", **GIVEN), ACCOUNT), "eu-west-1")
    assert sorted(region["Resources"]) == ["TrainingRepository"]


def test_the_names_that_a_deployment_writes_down_are_no_others() -> None:
    account = "123456789012"
    made = names(OURS, account)
    written = {name: getattr(made, name) for name in GIVEN}
    assert names(Settings(region="us-east-1", **written), account).theirs == frozenset()
    assert Infra(Settings(region="us-east-1", **written)).template() == Infra(OURS).template()


def test_a_launcher_image_may_be_written_with_gaps() -> None:
    gaps = "{account}.dkr.ecr.{region}.amazonaws.com/sweep-launcher:1"
    assert names(Settings(region="us-east-1", launcher_image=gaps), "123456789012").theirs == frozenset()


def test_a_boundary_bounds_every_role_and_nothing_grants_its_removal() -> None:
    template = control(Settings(region="us-east-1", infra_table={"permissions_boundary": BOUNDARY}))
    roles = of_type(template, "AWS::IAM::Role")
    assert len(roles) == 5
    assert {role["Properties"]["PermissionsBoundary"] for role in roles} == {BOUNDARY}
    assert "Boundary" not in json.dumps([role["Properties"]["Policies"] for role in roles])
    granted = json.dumps([each["Properties"] for each in of_type(template, "AWS::IAM::ManagedPolicy")])
    assert '"iam:' not in granted.replace('"iam:PassRole"', "").replace('"iam:PassedToService"', "")


def test_a_conductor_may_all_that_who_submits_may_and_its_container_takes_it_on() -> None:
    known = names(OURS, "123456789012")
    conductor = [json.dumps(each) for each in policy("conductor", known)["Statement"]]
    assert {json.dumps(each) for each in policy("submit", known)["Statement"]} <= set(conductor)
    role = control(OURS)["Resources"]["ConductorRole"]["Properties"]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}


def test_a_conductor_s_image_is_pulled_beside_a_launcher_s_of_the_team_s_own() -> None:
    known = names(Settings(region="us-east-1", launcher_image=GIVEN["launcher_image"]), "123456789012")
    (pull,) = [each for each in policy("launcher-start", known)["Statement"] if each["Sid"] == "PullTheLauncher"]
    assert [each.rpartition("/")[2] for each in pull["Resource"]] == ["our-launcher", "sweep-conductor"]


def test_only_schedules_of_this_account_take_on_the_role_that_starts_their_jobs() -> None:
    properties = control(OURS)["Resources"]["ScheduleRole"]["Properties"]
    (trust,) = properties["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Fn::Sub": ACCOUNT}}}


def test_what_cannot_be_delivered_is_kept_for_two_weeks_where_schedules_may_send_it() -> None:
    known = names(OURS, "123456789012")
    queue = control(OURS)["Resources"]["ScheduleDeadLetters"]["Properties"]
    assert queue == {"QueueName": "sweep-schedules-dead", "MessageRetentionPeriod": 1_209_600}
    (sending,) = [each for each in policy("schedule", known)["Statement"] if each["Action"] == "sqs:SendMessage"]
    assert sending["Resource"] == "arn:aws:sqs:us-east-1:123456789012:sweep-schedules-dead"
    deleting = {role for role in ROLES if "sqs:DeleteMessage" in json.dumps(policy(role, known))}
    assert deleting == {"conductor"}


@pytest.mark.parametrize(
    ("region", "partition"),
    [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov"), ("eu-west-1", "aws"), ("eusc-de-east-1", "aws-eusc")],
)
def test_arns_are_of_the_part_of_the_world_that_the_region_is_in(region: str, partition: str) -> None:
    ours = Settings(region=region)
    made = names(ours, "123456789012")
    written = [made.role, made.topic, *(each for role in ROLES for each in arns(policy(role, made)))]
    assert {arn.split(":")[1] for arn in written} == {partition}
    everywhere = json.dumps(control_template(names(ours, ACCOUNT)))
    assert "arn:aws:" not in everywhere
    assert "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/" in everywhere


def arns(document: dict[str, Any]) -> list[str]:
    return [each for one in document["Statement"] for each in listed(one["Resource"]) if each != "*"]


def test_a_key_encrypts_the_buckets_and_may_be_used_by_all_who_read_them() -> None:
    settings = Settings(region="us-east-1", infra_table={"kms_key": KEY, "regions": ["eu-west-1"]})
    known = names(settings, ACCOUNT)
    (bucket,) = of_type(region_template(known, "eu-west-1"), "AWS::S3::Bucket")
    (rule,) = bucket["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] == KEY.replace("{region}", "eu-west-1")
    for role in ("submit", "launcher", "training"):
        grants = [each for each in policy(role, known)["Statement"] if each["Sid"] == "UseTheKeyOfTheBuckets"]
        assert [each["Resource"] for each in grants] == [KEY.replace("{region}", "*")]


def test_other_buckets_with_data_may_be_read_and_not_written() -> None:
    known = names(Settings(region="us-east-1", infra_table={"data_buckets": ["drives-{region}"]}), ACCOUNT)
    for role in ("submit", "training"):
        grants = [each for each in policy(role, known)["Statement"] if "drives-*" in str(each["Resource"])]
        actions = {action for each in grants for action in listed(each["Action"])}
        assert actions == {"s3:GetObject", "s3:ListBucket"}


def test_launchers_may_bring_checkpoints_from_bucket_to_bucket_and_touch_nothing_else_there() -> None:
    whole = policy("launcher", names(Settings(region="us-east-1"), "123456789012"))
    bucket = "arn:aws:s3:::sweep-data-123456789012-eu-west-1"
    saved, model = f"{bucket}/runs/nightly/checkpoints/7/slot-0/state", f"{bucket}/runs/nightly/trainings/model.tar.gz"
    needed = [("s3:ListBucket", bucket), *((f"s3:{verb}", saved) for verb in ("GetObject", "PutObject"))]
    needed.append(("s3:ListMultipartUploadParts", saved))
    others = [("s3:DeleteObject", saved), ("s3:GetObject", model), ("s3:PutObject", model)]
    asked = [{"action": action, "resource": resource, "context": {}} for action, resource in [*needed, *others]]
    assert refused(whole, asked) == [f"{action} on {resource}" for action, resource in others]


def test_launchers_may_hand_over_a_training_role_of_the_team_s_own() -> None:
    known = names(Settings(region="us-east-1", role=GIVEN["role"]), "123456789012")
    (grant,) = [each for each in policy("launcher", known)["Statement"] if each["Action"] == "iam:PassRole"]
    assert GIVEN["role"] in grant["Resource"]


def test_who_submits_and_conductors_may_tell_those_whom_the_settings_name() -> None:
    topic, secret = (
        "arn:aws:sns:eu-west-1:210987654321:sweeps",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:chat",
    )
    ours = Settings(
        region="us-east-1",
        notify=(topic, "ssm:eu-west-1:/team/chat"),
        notify_secret=f"secret:{secret}#key",
        mlflow_token="ssm:us-east-1:/team/mlflow",
    )
    known = names(ours, "123456789012")
    for role in ("submit", "conductor"):
        granted = {each["Sid"]: each for each in policy(role, known)["Statement"]}
        assert granted["TellOfRuns"]["Resource"] == [known.topic, topic]
        parameters = [
            "arn:aws:ssm:eu-west-1:123456789012:parameter/team/chat",
            "arn:aws:ssm:us-east-1:123456789012:parameter/team/mlflow",
        ]
        assert granted["ReadAddressesOfNotices"]["Resource"] == parameters
        assert granted["ReadSecretsOfNotices"]["Resource"] == secret
    sids = {each["Sid"] for each in policy("submit", names(OURS, "123456789012"))["Statement"]}
    assert not sids & {"ReadAddressesOfNotices", "ReadSecretsOfNotices"}


def test_a_policy_of_people_that_iam_would_not_take_becomes_several_that_say_as_much() -> None:
    """IAM takes 6,144 characters of a managed policy, however many buckets with data a team has."""
    for buckets, count in ((0, 1), (20, 2), (60, 3)):
        given = {"data_buckets": [f"our-campaigns-of-the-year-{n:04}-{{region}}" for n in range(buckets)]}
        ours = Settings(region="ap-southeast-1", model_registry=True, infra_table=given)
        made = managed_policies("submit", names(ours, "123456789012"))
        parts = [f"sweep-submit-{part}-ap-southeast-1" for part in range(2, count + 1)]
        assert list(made) == ["sweep-submit-ap-southeast-1", *parts]
        assert all(len(json.dumps(each, separators=(",", ":"))) <= 6_144 for each in made.values())
        statements = [statement for each in made.values() for statement in each["Statement"]]
        assert statements == policy("submit", names(ours, "123456789012"))["Statement"]
        deployed = [each["Properties"] for each in of_type(control(ours), "AWS::IAM::ManagedPolicy")]
        theirs = [each for each in deployed if each["ManagedPolicyName"] in made]
        assert [len(each["PolicyDocument"]["Statement"]) for each in theirs] == [
            len(each["Statement"]) for each in made.values()
        ]


def test_a_network_is_made_only_where_none_is_given() -> None:
    assert of_type(control(OURS), "AWS::EC2::VPCEndpoint")
    given = control(Settings(region="us-east-1", infra_table=NETWORK))
    assert not [each for each in given["Resources"].values() if each["Type"].startswith("AWS::EC2::")]
    (environment,) = of_type(given, "AWS::Batch::ComputeEnvironment")
    assert environment["Properties"]["ComputeResources"]["Subnets"] == NETWORK["subnets"]


def test_instances_get_the_role_of_trainings_by_a_profile_of_its_name() -> None:
    made = control(Settings(region="us-east-1", platforms={"ec2": {}}))
    (profile,) = of_type(made, "AWS::IAM::InstanceProfile")
    assert profile["Properties"]["InstanceProfileName"] == made["Resources"]["TrainingRole"]["Properties"]["RoleName"]
    trust = made["Resources"]["TrainingRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]
    assert trust["Principal"] == {"Service": "ec2.amazonaws.com"}
    assert of_type(control(OURS), "AWS::IAM::InstanceProfile") == []


def test_the_policies_of_roles_are_short_enough_whatever_platforms_are_used() -> None:
    """IAM takes 10,240 characters of a role's own policies together, and ours has one."""
    on_all = names(Settings(region="ap-southeast-1", platforms={name: {} for name in platforms()}), "123456789012")
    for role in ROLES:
        document = policy(role, on_all)
        length = len(json.dumps(document, separators=(",", ":")))
        assert length <= 10_240, f"the role {role} needs {length:,} characters: give it two, or say less"
        names_of = [statement["Sid"] for statement in document["Statement"]]
        assert len(set(names_of)) == len(names_of)
