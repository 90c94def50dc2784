"""The CloudFormation templates, as values: one for the control Region, and one for each Region that is trained in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.errors import UsageError
from orchestrator.infra import policies
from orchestrator.infra.managed import managed_policies
from orchestrator.infra.names import LANE_QUEUE, LAUNCHER_REPOSITORY, TRAINING_REPOSITORY, VERSION
from orchestrator.infra.stacks import network
from orchestrator.infra.wanted import wanted_of
from orchestrator.platforms import registry

if TYPE_CHECKING:
    from orchestrator.infra.names import Names

Template = dict[str, Any]
Resource = dict[str, Any]
LONGEST = 51_200
"""Bytes of a template that CloudFormation takes with a request."""
_KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
"""What holds data stays when its stack goes. Only what a failed deployment has just made goes with it."""
KEPT_TYPES = ("AWS::S3::Bucket", "AWS::ECR::Repository", "AWS::Logs::LogGroup")
"""The types of resources that hold data."""
_LOGS_KEPT_DAYS = 90
_LETTERS_KEPT_S = 14 * 86_400
"""The longest that SQS keeps a message."""
_PEOPLE = ("submit", "refresh", "images", "schedules")
"""The policies of people: a team attaches them to its own roles and users."""


def control_template(names: Names) -> Template:
    """Return the template of the control Region: what the settings name already is left out."""
    made: dict[str, Resource | None] = {
        "ControlBucket": _bucket(names.bucket, names.key_of(names.region)),
        "TrainingRole": _role(names, "role", "training", policies.training_services(names)),
        "TrainingProfile": _profile(names),
        "LauncherRole": _role(names, "job_role", "launcher", ["ecs-tasks.amazonaws.com"]),
        "LauncherStartRole": _role(names, "execution_role", "launcher-start", ["ecs-tasks.amazonaws.com"]),
        "LogGroup": {
            "Type": "AWS::Logs::LogGroup",
            **_KEPT,
            "Properties": {"LogGroupName": names.log_group, "RetentionInDays": _LOGS_KEPT_DAYS},
        },
        "LauncherRepository": _repository(LAUNCHER_REPOSITORY),
        "ScheduleGroup": {"Type": "AWS::Scheduler::ScheduleGroup", "Properties": {"Name": names.schedule_group}},
        "ScheduleRole": _role(names, "schedule_role", "schedule", ["scheduler.amazonaws.com"]),
        "ScheduleDeadLetters": {
            "Type": "AWS::SQS::Queue",
            "Properties": {
                "QueueName": names.schedule_dead_letters.rpartition(":")[2],
                "MessageRetentionPeriod": _LETTERS_KEPT_S,
            },
        },
        "ConductorRole": _role(names, "conductor_role", "conductor", ["ecs-tasks.amazonaws.com"]),
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": names.topic.rpartition(":")[2]}},
    }
    setting_of = {
        "ControlBucket": "bucket",
        "TrainingRole": "role",
        "TrainingProfile": "role",
        "LauncherRole": "job_role",
        "LauncherStartRole": "execution_role",
        "LogGroup": "log_group",
        "LauncherRepository": "launcher_image",
        "ScheduleGroup": "schedule_group",
        "ScheduleRole": "schedule_role",
        "ScheduleDeadLetters": "schedule_dead_letters",
        "ConductorRole": "conductor_role",
        "Topic": "topic",
    }
    resources = {key: each for key, each in made.items() if each and setting_of[key] not in names.theirs}
    resources |= {name: each for role in _PEOPLE for name, each in _managed_policies(names, role).items()}
    resources |= _queues(names)
    outputs = {"Version": VERSION, "Regions": ",".join(names.regions)}
    return _template("sweep: what runs are kept in and started from", resources, outputs)


def region_template(names: Names, region: str) -> Template:
    """Return the template of a Region that is trained in."""
    resources = {"TrainingRepository": _repository(TRAINING_REPOSITORY)}
    if "region_bucket" not in names.theirs:
        resources["DataBucket"] = _bucket(names.bucket_of(region), names.key_of(region))
    for platform in names.platforms:
        made = registry.make_operating(platform).resources(wanted_of(names, platform, region))
        resources |= {name: dict(resource) for name, resource in made.items()}
    return _template("sweep: where trainings read and write in this Region", resources, {"Version": VERSION})


def write_template(template: Template) -> str:
    """Return a template as the text that CloudFormation is sent. Raise UsageError if it is too long for that."""
    text = json.dumps(template, indent=1)
    if len(text.encode()) > LONGEST:
        text = json.dumps(template, separators=(",", ":"))
    if len(text.encode()) > LONGEST:
        raise UsageError(
            f"the template has {len(text.encode()):,} bytes, and CloudFormation takes {LONGEST:,}",
            hint="train in fewer Regions, or give queues of your own",
        )
    return text


def _template(description: str, resources: dict[str, Resource], outputs: dict[str, str]) -> Template:
    shown = {name: {"Value": value} for name, value in outputs.items()}
    body = {"Description": description, "Resources": resources, "Outputs": shown}
    return {"AWSTemplateFormatVersion": "2010-09-09", **_substituted(body)}


def _substituted(value: Any) -> Any:
    """Return a value in which CloudFormation fills in what it knows: the account's number, the partition."""
    if isinstance(value, dict):
        return {key: _substituted(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_substituted(each) for each in value]
    if isinstance(value, str) and "${AWS::" in value:
        return {"Fn::Sub": value}
    return value


def _bucket(name: str, key: str) -> Resource:
    """Return a bucket that keeps all that is in it. Only what was overwritten or deleted goes, after a month."""
    encryption: dict[str, Any] = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    if key:
        by_default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
        encryption = {"ServerSideEncryptionByDefault": by_default, "BucketKeyEnabled": True}
    closed = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    rules = [
        {"Id": "old-versions", "Status": "Enabled", "NoncurrentVersionExpiration": {"NoncurrentDays": 30}},
        {"Id": "marks-of-the-deleted", "Status": "Enabled", "ExpiredObjectDeleteMarker": True},
        {"Id": "broken-uploads", "Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
    ]
    return {
        "Type": "AWS::S3::Bucket",
        **_KEPT,
        "Properties": {
            "BucketName": name,
            "VersioningConfiguration": {"Status": "Enabled"},
            "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
            "PublicAccessBlockConfiguration": dict.fromkeys(closed, True),
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
            "LifecycleConfiguration": {"Rules": rules},
        },
    }


def _role(names: Names, setting: str, role: str, services: list[str]) -> Resource | None:
    """Return a role of ours; None for one that no service would take on."""
    if not services:
        return None
    document = policies.policy(role, names)
    # Schedules of other accounts would start jobs of ours, if they knew the role's name.
    account = names.account if role == "schedule" else ""
    properties: dict[str, Any] = {
        "RoleName": getattr(names, setting).rpartition("/")[2],
        "AssumeRolePolicyDocument": policies.trust(services, account),
        "Policies": [{"PolicyName": "sweep", "PolicyDocument": document}],
    }
    if names.given.permissions_boundary:
        properties["PermissionsBoundary"] = names.given.permissions_boundary
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def _profile(names: Names) -> Resource | None:
    """Return what hands the role of trainings to instances, under its own name; None where none take it on."""
    if policies.INSTANCES not in policies.training_services(names):
        return None
    properties = {"InstanceProfileName": names.role.rpartition("/")[2], "Roles": [{"Ref": "TrainingRole"}]}
    return {"Type": "AWS::IAM::InstanceProfile", "Properties": properties}


def _managed_policies(names: Names, role: str) -> dict[str, Resource]:
    """Return the policy of people of this role: several, where IAM takes none of that length."""
    made = enumerate(managed_policies(role, names).items(), start=1)
    return {
        f"{role.capitalize()}Policy{'' if part == 1 else part}": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {"ManagedPolicyName": name, "PolicyDocument": document},
        }
        for part, (name, document) in made
    }


def _repository(name: str) -> Resource:
    return {"Type": "AWS::ECR::Repository", **_KEPT, "Properties": {"RepositoryName": name}}


def _queues(names: Names) -> dict[str, Resource]:
    """Return the queues, what their jobs run on, and, unless one is given, its network; nothing if queues are given."""
    if names.theirs & {"queue", "lane_queue"} == {"queue", "lane_queue"}:
        return {}
    given = names.given
    parts = {} if given.subnets else network.resources()
    subnets = list(given.subnets) or network.SUBNETS
    groups = list(given.security_groups) or network.SECURITY_GROUPS
    environment = {
        "Type": "AWS::Batch::ComputeEnvironment",
        # Without a route, the first launchers would find no way to ECR.
        **({} if given.subnets else {"DependsOn": network.WAY_OUT}),
        "Properties": {
            "ComputeEnvironmentName": "sweep-tasks",
            "Type": "MANAGED",
            "State": "ENABLED",
            "ReplaceComputeEnvironment": False,
            "ComputeResources": {
                "Type": "FARGATE",
                "MaxvCpus": given.max_vcpus,
                "Subnets": subnets,
                "SecurityGroupIds": groups,
            },
        },
    }
    parts["LauncherEnvironment"] = environment
    if "queue" not in names.theirs:
        parts["Queue"] = _queue(names.queue)
    if "lane_queue" not in names.theirs:
        # Runs that were begun before platforms had queues of their own wait in those of Regions.
        for queue in (*replace(names, lane_queue=LANE_QUEUE).lane_queues(), *names.lane_queues()):
            told_apart = queue.removeprefix(LANE_QUEUE.partition("{")[0])
            parts[f"LaneQueue{told_apart.title().replace('-', '')}"] = _queue(queue)
    return parts


def _queue(name: str) -> Resource:
    order = [{"Order": 1, "ComputeEnvironment": {"Ref": "LauncherEnvironment"}}]
    properties = {"JobQueueName": name, "State": "ENABLED", "Priority": 1, "ComputeEnvironmentOrder": order}
    return {"Type": "AWS::Batch::JobQueue", "Properties": properties}
