"""CloudFormation makes what a template says by the cloud's own services, all of it or nothing."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

GROUP = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "GROUP", "RetentionInDays": 7}}


class Deployer:
    """Somebody who deploys templates as stacks of one name."""

    def __init__(self, name: str, client: Callable[..., Any]) -> None:
        self.name = name
        self.logs = client("logs")
        self.s3 = client("s3")
        self.cloudformation = client("cloudformation")

    def propose(self, resources: dict[str, Any], kind: str = "CREATE", **more: Any) -> dict[str, Any]:
        text = json.dumps({"Resources": resources} | more.pop("outputs", {})).replace("GROUP", self.name)
        made = self.cloudformation.create_change_set(
            StackName=self.name,
            ChangeSetName=f"{kind}-{time.monotonic_ns()}",
            ChangeSetType=kind,
            TemplateBody=text,
            **more,
        )
        found: dict[str, Any] = self.cloudformation.describe_change_set(ChangeSetName=made["Id"])
        return found

    def deploy(self, resources: dict[str, Any], kind: str = "CREATE", **more: Any) -> str:
        self.cloudformation.execute_change_set(ChangeSetName=self.propose(resources, kind, **more)["ChangeSetId"])
        return self.settle(self.name)

    def settle(self, key: str) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            (stack,) = self.cloudformation.describe_stacks(StackName=key)["Stacks"]
            if not stack["StackStatus"].endswith("IN_PROGRESS"):
                return str(stack["StackStatus"])
            time.sleep(0.05)
        raise AssertionError(f"{key} is still {stack['StackStatus']}")

    def delete(self) -> str:
        (stack,) = self.cloudformation.describe_stacks(StackName=self.name)["Stacks"]
        self.cloudformation.delete_stack(StackName=self.name)
        return self.settle(stack["StackId"])

    def groups(self) -> list[str]:
        found = self.logs.describe_log_groups(logGroupNamePrefix=self.name)["logGroups"]
        return sorted(group["logGroupName"] for group in found)

    def failures(self) -> str:
        events = self.cloudformation.describe_stack_events(StackName=self.name)["StackEvents"]
        return " ".join(each.get("ResourceStatusReason", "") for each in events if "FAILED" in each["ResourceStatus"])


@pytest.fixture
def deployer(name: str, client: Callable[..., Any]) -> Deployer:
    return Deployer(name, client)


def group(suffix: str = "", **more: Any) -> dict[str, Any]:
    return {**GROUP, "Properties": {**GROUP["Properties"], "LogGroupName": f"GROUP{suffix}", **more}}


def test_what_a_stack_makes_its_own_service_tells(deployer: Deployer) -> None:
    assert deployer.deploy({"A": group()}, outputs={"Outputs": {"Name": {"Value": {"Ref": "A"}}}}) == "CREATE_COMPLETE"
    (found,) = deployer.logs.describe_log_groups(logGroupNamePrefix=deployer.name)["logGroups"]
    assert (found["logGroupName"], found["retentionInDays"]) == (deployer.name, 7)
    (stack,) = deployer.cloudformation.describe_stacks(StackName=deployer.name)["Stacks"]
    assert stack["Outputs"] == [{"OutputKey": "Name", "OutputValue": deployer.name}]


def test_a_type_that_nobody_knows_is_refused(deployer: Deployer) -> None:
    with pytest.raises(ClientError, match=r"Unrecognized resource types: \[AWS::Logs::Grup\]"):
        deployer.propose({"A": {"Type": "AWS::Logs::Grup"}})


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"Resources": {}}, "At least one Resources member"),
        ({"Resources": {"A": GROUP}, "Parametres": {}}, r"Invalid template property or properties \[Parametres\]"),
        ({"Resources": {"A": {**GROUP, "DependOn": []}}}, "Invalid template resource property 'DependOn'"),
        ({"Resources": {"A": {**GROUP, "DependsOn": ["B"]}}}, "Unresolved resource dependencies"),
        ({"Resources": {"A": {**GROUP, "DependsOn": ["A"]}}}, "Circular dependency"),
    ],
)
def test_a_template_that_is_wrong_is_refused(deployer: Deployer, section: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        deployer.cloudformation.create_change_set(
            StackName=deployer.name, ChangeSetName="a", ChangeSetType="CREATE", TemplateBody=json.dumps(section)
        )


@pytest.mark.parametrize(
    "bad",
    [
        group("/b", Color="red"),
        {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "GROUP", "OwnershipControls": {"Rulez": []}}},
        group("/b", RetentionInDays={"Fn::Base64": "7"}),
    ],
    ids=["an unknown property", "an ignored one deep inside", "an unknown function"],
)
def test_nothing_stays_of_a_stack_of_which_a_part_fails(deployer: Deployer, bad: dict[str, Any]) -> None:
    assert deployer.deploy({"A": group("/a"), "B": {**bad, "DependsOn": "A"}}) == "ROLLBACK_COMPLETE"
    assert deployer.groups() == []
    assert "[B]" in json.dumps(deployer.cloudformation.describe_stack_events(StackName=deployer.name), default=str)
    assert deployer.name not in [each["Name"] for each in deployer.s3.list_buckets()["Buckets"]]


def test_an_update_changes_adds_and_removes(deployer: Deployer) -> None:
    deployer.deploy({"A": group("/a"), "B": group("/b")})
    new = {"A": group("/a", RetentionInDays=30), "C": group("/c")}
    proposed = deployer.propose(new, "UPDATE")
    changes = [each["ResourceChange"] for each in proposed["Changes"]]
    assert [(each["Action"], each["LogicalResourceId"]) for each in changes] == [
        ("Modify", "A"),
        ("Add", "C"),
        ("Remove", "B"),
    ]
    assert deployer.deploy(new, "UPDATE") == "UPDATE_COMPLETE"
    assert deployer.groups() == [f"{deployer.name}/a", f"{deployer.name}/c"]
    assert (
        deployer.logs.describe_log_groups(logGroupNamePrefix=f"{deployer.name}/a")["logGroups"][0]["retentionInDays"]
        == 30
    )


def test_an_update_that_fails_leaves_everything_as_it_was(deployer: Deployer) -> None:
    deployer.deploy({"A": group("/a"), "B": group("/b")})
    bad = {"A": group("/a", RetentionInDays=30), "C": group("/c", RetentionInDays=8, Color="red")}
    assert deployer.deploy(bad, "UPDATE") == "UPDATE_ROLLBACK_COMPLETE"
    assert "unsupported property Color" in deployer.failures()
    assert deployer.groups() == [f"{deployer.name}/a", f"{deployer.name}/b"]
    assert (
        deployer.logs.describe_log_groups(logGroupNamePrefix=f"{deployer.name}/a")["logGroups"][0]["retentionInDays"]
        == 7
    )


def test_the_same_template_again_is_no_change(deployer: Deployer) -> None:
    deployer.deploy({"A": group()})
    proposed = deployer.propose({"A": group()}, "UPDATE")
    assert (proposed["Status"], proposed["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert "didn't contain changes" in proposed["StatusReason"]


def test_what_is_kept_stays_and_is_taken_in_again(deployer: Deployer) -> None:
    kept = {"A": {**group("/kept"), "DeletionPolicy": "RetainExceptOnCreate"}, "B": group("/gone")}
    deployer.deploy(kept)
    assert deployer.delete() == "DELETE_COMPLETE"
    assert deployer.groups() == [f"{deployer.name}/kept"]
    proposed = deployer.propose(kept, ImportExistingResources=True)
    actions = {
        each["ResourceChange"]["LogicalResourceId"]: each["ResourceChange"]["Action"] for each in proposed["Changes"]
    }
    assert actions == {"A": "Import", "B": "Add"}
    assert deployer.deploy(kept, ImportExistingResources=True) == "CREATE_COMPLETE"
    assert len(deployer.groups()) == 2


def test_what_is_there_already_and_is_not_taken_in_fails_the_stack_and_stays(deployer: Deployer) -> None:
    deployer.logs.create_log_group(logGroupName=deployer.name)
    assert deployer.deploy({"A": group()}) == "ROLLBACK_COMPLETE"
    assert "already exists" in deployer.failures()
    assert deployer.groups() == [deployer.name]


def test_drift_is_told_with_what_is_and_what_should_be(deployer: Deployer) -> None:
    deployer.deploy({"A": group("/a"), "B": group("/b"), "C": group("/c")})
    deployer.logs.put_retention_policy(logGroupName=f"{deployer.name}/a", retentionInDays=1)
    deployer.logs.delete_log_group(logGroupName=f"{deployer.name}/b")
    look = deployer.cloudformation.detect_stack_drift(StackName=deployer.name)["StackDriftDetectionId"]
    status = deployer.cloudformation.describe_stack_drift_detection_status(StackDriftDetectionId=look)
    assert (status["StackDriftStatus"], status["DriftedStackResourceCount"]) == ("DRIFTED", 2)
    drifts = deployer.cloudformation.describe_stack_resource_drifts(StackName=deployer.name)["StackResourceDrifts"]
    found = {each["LogicalResourceId"]: each for each in drifts}
    assert {name: each["StackResourceDriftStatus"] for name, each in found.items()} == {
        "A": "MODIFIED",
        "B": "DELETED",
        "C": "IN_SYNC",
    }
    (difference,) = found["A"]["PropertyDifferences"]
    assert (difference["PropertyPath"], difference["ExpectedValue"], difference["ActualValue"]) == (
        "/RetentionInDays",
        "7",
        "1",
    )


def test_a_change_set_that_reverts_drift_brings_back_what_was_changed_and_what_was_deleted(deployer: Deployer) -> None:
    resources = {"Mine": GROUP, "Other": {"Type": GROUP["Type"], "Properties": {"LogGroupName": "GROUP-2"}}}
    assert deployer.deploy(resources) == "CREATE_COMPLETE"
    deployer.logs.put_retention_policy(logGroupName=deployer.name, retentionInDays=30)
    deployer.logs.delete_log_group(logGroupName=f"{deployer.name}-2")
    assert deployer.propose(resources, "UPDATE")["Status"] == "FAILED"
    assert deployer.deploy(resources, "UPDATE", DeploymentMode="REVERT_DRIFT") == "UPDATE_COMPLETE"
    assert deployer.groups() == [deployer.name, f"{deployer.name}-2"]
    (mine, _) = deployer.logs.describe_log_groups(logGroupNamePrefix=deployer.name)["logGroups"]
    assert mine["retentionInDays"] == 7
    assert deployer.propose(resources, "UPDATE", DeploymentMode="REVERT_DRIFT")["Status"] == "FAILED"


def test_a_stack_is_made_once_and_only_updated_after(deployer: Deployer) -> None:
    with pytest.raises(ClientError, match="does not exist"):
        deployer.propose({"A": group()}, "UPDATE")
    deployer.deploy({"A": group()})
    with pytest.raises(ClientError, match="already exists and cannot be created again"):
        deployer.propose({"A": group()})


def test_one_of_two_change_sets_is_carried_out(deployer: Deployer) -> None:
    first, second = deployer.propose({"A": group("/a")}), deployer.propose({"A": group("/b")})
    deployer.cloudformation.execute_change_set(ChangeSetName=first["ChangeSetId"])
    with pytest.raises(ClientError, match=r"InvalidChangeSetStatus|ChangeSetNotFound"):
        deployer.cloudformation.execute_change_set(ChangeSetName=second["ChangeSetId"])
    assert deployer.settle(deployer.name) == "CREATE_COMPLETE"
    assert deployer.groups() == [f"{deployer.name}/a"]


def test_roles_with_names_have_to_be_allowed(deployer: Deployer) -> None:
    trust = {"Version": "2012-10-17", "Statement": []}
    role = {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "GROUP", "AssumeRolePolicyDocument": trust}}
    with pytest.raises(ClientError, match="CAPABILITY_NAMED_IAM"):
        deployer.propose({"A": role})


def test_policies_are_as_long_as_iam_lets_them_be(deployer: Deployer) -> None:
    long = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "a:" + "b" * 6200, "Resource": "*"}]}
    policy = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"ManagedPolicyName": "GROUP", "PolicyDocument": long}}
    assert deployer.deploy({"A": policy}, Capabilities=["CAPABILITY_NAMED_IAM"]) == "ROLLBACK_COMPLETE"
    assert "PolicySize: 6144" in deployer.failures()


def test_a_group_for_schedules_a_topic_and_a_queue_come_and_go_with_their_stack(
    deployer: Deployer, client: Callable[..., Any]
) -> None:
    signals = {
        "Nights": {"Type": "AWS::Scheduler::ScheduleGroup", "Properties": {"Name": "GROUP"}},
        "Notices": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "GROUP"}},
        "Dead": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "GROUP", "MessageRetentionPeriod": 3600}},
    }
    refs = {"Topic": {"Ref": "Notices"}, "Group": {"Fn::GetAtt": ["Nights", "Arn"]}, "Queue": {"Ref": "Dead"}}
    shown = {"Outputs": {name: {"Value": value} for name, value in refs.items()}}
    assert deployer.deploy(signals, outputs=shown) == "CREATE_COMPLETE"
    (stack,) = deployer.cloudformation.describe_stacks(StackName=deployer.name)["Stacks"]
    told = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    assert client("scheduler").get_schedule_group(Name=deployer.name)["Arn"] == told["Group"]
    topics = {each["TopicArn"] for each in client("sns").list_topics()["Topics"]}
    assert told["Topic"] in topics
    client("sns").publish(TopicArn=told["Topic"], Message="somebody hears it")
    sqs = client("sqs")
    kept = sqs.get_queue_attributes(QueueUrl=told["Queue"], AttributeNames=["MessageRetentionPeriod"])["Attributes"]
    assert kept == {"MessageRetentionPeriod": "3600"}
    longer = {**signals["Dead"], "Properties": {"QueueName": "GROUP", "MessageRetentionPeriod": 7200}}
    assert deployer.deploy({**signals, "Dead": longer}, outputs=shown, kind="UPDATE") == "UPDATE_COMPLETE"
    kept = sqs.get_queue_attributes(QueueUrl=told["Queue"], AttributeNames=["MessageRetentionPeriod"])["Attributes"]
    assert kept == {"MessageRetentionPeriod": "7200"}
    assert deployer.delete() == "DELETE_COMPLETE"
    assert deployer.name not in {each["Name"] for each in client("scheduler").list_schedule_groups()["ScheduleGroups"]}
    assert told["Topic"] not in {each["TopicArn"] for each in client("sns").list_topics()["Topics"]}
    assert told["Queue"] not in sqs.list_queues().get("QueueUrls", [])


def test_an_instance_profile_comes_and_goes_with_its_stack(deployer: Deployer, client: Callable[..., Any]) -> None:
    trust = {"Version": "2012-10-17", "Statement": []}
    made = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "GROUP", "AssumeRolePolicyDocument": trust}},
        "Profile": {
            "Type": "AWS::IAM::InstanceProfile",
            "Properties": {"InstanceProfileName": "GROUP", "Roles": [{"Ref": "Role"}]},
        },
    }
    assert deployer.deploy(made, Capabilities=["CAPABILITY_NAMED_IAM"]) == "CREATE_COMPLETE"
    profile = client("iam").get_instance_profile(InstanceProfileName=deployer.name)["InstanceProfile"]
    assert [role["RoleName"] for role in profile["Roles"]] == [deployer.name]
    assert deployer.delete() == "DELETE_COMPLETE"
    found = client("iam").list_instance_profiles()["InstanceProfiles"]
    assert deployer.name not in [each["InstanceProfileName"] for each in found]
