"""The policies of docs/real-account.md allow what the code calls: no call without a grant, no role without a policy."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import boto3
import botocore.session
import pytest
from botocore import xform_name

from orchestrator.api import Orchestrator, Settings
from orchestrator.platforms.sagemaker.operating import SageMakerOperating

ROOT = Path(__file__).parents[1]
POLICIES = ROOT / "docs" / "policies"
S3_ACTIONS = {
    "HeadBucket": "ListBucket",
    "HeadObject": "GetObject",
    "ListObjectsV2": "ListBucket",
    "ListParts": "ListMultipartUploadParts",
    **dict.fromkeys(("CopyObject", "CreateMultipartUpload", "UploadPartCopy", "CompleteMultipartUpload"), "PutObject"),
}
"""Where an S3 operation is allowed by an action of another name."""

LAUNCHERS = {"s3": "aws/s3.py", "sagemaker": "platforms/sagemaker/runner.py", "logs": "aws/logs.py"}
SUBMITTERS = {**LAUNCHERS, "batch": "aws/jobs/batch.py", "ssm": "aws/secrets.py", "secretsmanager": "aws/secrets.py"}
"""The one file that calls each service."""
ONLY_LAUNCHERS = {"sagemaker:CreateTrainingJob"}


def called(files: dict[str, str]) -> set[str]:
    """The actions behind every boto3 call in these files."""
    found = set()
    for service, file in files.items():
        text = (ROOT / "orchestrator" / file).read_text(encoding="utf-8")
        words = set(re.findall(r"\.([a-z_0-9]+)\(", text)) | set(re.findall(r'get_paginator\("(\w+)"\)', text))
        client = boto3.client(service, region_name="us-east-1", aws_access_key_id="-", aws_secret_access_key="-")
        operations = {op for op in client.meta.service_model.operation_names if xform_name(op) in words}
        found |= {f"{service}:{S3_ACTIONS.get(operation, operation)}" for operation in operations}
    return found


def granted(policy: str) -> set[str]:
    document = json.loads((POLICIES / f"{policy}.json").read_text(encoding="utf-8"))
    actions = [statement["Action"] for statement in document["Statement"]]
    return {action for group in actions for action in ([group] if isinstance(group, str) else group)}


def test_the_pages_are_what_the_code_says() -> None:
    pages = runpy.run_path(str(ROOT / "docs" / "write_policies.py"))["pages"]()
    written = {path.name: path.read_text(encoding="utf-8") for path in POLICIES.glob("*.json")}
    assert written == pages, "python docs/write_policies.py writes them anew"


def test_a_launcher_may_do_what_it_does() -> None:
    assert called(LAUNCHERS) | called({"s3": "aws/copies.py"}) <= granted("launcher")


def test_who_submits_may_do_what_submitting_does() -> None:
    assert called(SUBMITTERS) - ONLY_LAUNCHERS <= granted("submit")


def test_who_submits_may_look_images_up_and_no_more() -> None:
    assert {action for action in granted("submit") if action.startswith("ecr:")} == {"ecr:BatchGetImage"}


def test_a_training_may_fetch_its_secrets_and_nobody_else_may() -> None:
    fetching = {"ssm:GetParameter", "secretsmanager:GetSecretValue"}
    text = (ROOT / "orchestrator" / "training" / "secrets.py").read_text(encoding="utf-8")
    assert all(action.partition(":")[2] in text for action in fetching)
    assert fetching <= granted("training")
    assert not any(fetching & granted(policy) for policy in ("submit", "launcher", "images"))


def test_who_pushes_images_may_do_what_pushing_does() -> None:
    calls = called({"ecr": "aws/account/ecr.py"}) | called({"ecr": "aws/account/layers.py"})
    assert calls <= granted("images")
    assert {"ecr:UploadLayerPart", "ecr:PutImage"} <= calls


def test_who_submits_cannot_start_trainings_past_the_launchers() -> None:
    assert not ONLY_LAUNCHERS & granted("submit")


@pytest.mark.parametrize("policy", sorted(path.stem for path in POLICIES.glob("*.json")))
def test_no_policy_grants_everything(policy: str) -> None:
    assert not [action for action in granted(policy) if "*" in action]


@pytest.mark.parametrize("role", ["submit", "launcher", "training"])
def test_the_policies_hold_what_the_platform_says_that_it_needs(role: str) -> None:
    document = json.loads((POLICIES / f"{role}.json").read_text(encoding="utf-8"))
    written = {statement["Sid"]: statement for statement in document["Statement"]}
    for needed in SageMakerOperating().permissions(role):
        there = written[str(needed["Sid"])]
        assert set(listed(needed["Action"])) == set(listed(there["Action"]))
        wanted = {resource.replace("{account}", "123456789012") for resource in listed(needed["Resource"])}
        assert wanted <= set(listed(there["Resource"]))
        assert needed.get("Condition") == there.get("Condition")


def test_no_other_role_needs_anything_of_the_platform() -> None:
    assert list(SageMakerOperating().permissions("images")) == []


def listed(value: object) -> list[str]:
    return value if isinstance(value, list) else [str(value)]


def test_who_refreshes_the_catalog_may_ask_what_feeds_ask_and_nothing_else() -> None:
    asked = {action for feed in Orchestrator(Settings()).feeds.all() for action in feed.actions}
    assert granted("refresh") == asked


STOPS = {
    "sagemaker:StopTrainingJob": "aws:ResourceTag/sweep:run",
    "batch:TerminateJob": "aws:ResourceTag/sweep:run",
    "batch:CancelJob": "aws:ResourceTag/sweep:run",
}
SCHEDULERS = ("schedule", "schedules")
STARTS = {"sagemaker:CreateTrainingJob": "aws:RequestTag/sweep:run", "batch:SubmitJob": "aws:RequestTag/sweep:run"}


@pytest.mark.parametrize(("action", "tag"), [*STOPS.items(), *STARTS.items()])
def test_only_what_carries_a_runs_tag_is_started_and_stopped(action: str, tag: str) -> None:
    """The slots of lanes are no jobs: what SubmitJob is granted there has no tag to ask for.

    Schedules, and those who make them, start conductors only, which are of no run.
    """
    found = [
        statement
        for path in POLICIES.glob("*.json")
        if path.stem not in SCHEDULERS
        for statement in json.loads(path.read_text(encoding="utf-8"))["Statement"]
        if action in listed(statement["Action"]) and "consumable-resource" not in str(statement["Resource"])
    ]
    assert found
    assert all(statement.get("Condition") == {"Null": {tag: "false"}} for statement in found)


@pytest.mark.parametrize("policy", SCHEDULERS)
def test_only_what_carries_a_schedule_s_tag_is_started_by_schedules(policy: str) -> None:
    document = json.loads((POLICIES / f"{policy}.json").read_text(encoding="utf-8"))
    (found,) = [each for each in document["Statement"] if "batch:SubmitJob" in listed(each["Action"])]
    assert found["Condition"] == {"Null": {"aws:RequestTag/sweep:schedule": "false"}}
    assert not any("launcher" in each for each in listed(found["Resource"]))


def test_nobody_makes_somebody_elses_training_a_runs_by_tagging_it() -> None:
    document = json.loads((POLICIES / "launcher.json").read_text(encoding="utf-8"))
    (tagging,) = [one for one in document["Statement"] if "sagemaker:AddTags" in listed(one["Action"])]
    assert tagging["Condition"] == {"StringEquals": {"sagemaker:TaggingAction": "CreateTrainingJob"}}
    assert "sagemaker:AddTags" not in granted("submit")


SERVICES = {"elasticfilesystem": "efs", "servicequotas": "service-quotas"}
"""Services that boto3 calls otherwise than IAM does."""
NO_OPERATIONS = {
    "iam:PassRole",
    "s3:ListBucket",
    "s3:ListMultipartUploadParts",
    "elasticfilesystem:ClientMount",
    "elasticfilesystem:ClientWrite",
}
"""Actions that are no operations of an API: see each service's page of the Service Authorization Reference."""


@pytest.mark.parametrize("policy", sorted(path.stem for path in POLICIES.glob("*.json")))
def test_every_action_that_is_granted_is_one_of_aws_s(policy: str) -> None:
    """A misspelt action grants nothing, and IAM takes it without a word."""
    session = botocore.session.get_session()
    for action in granted(policy) - NO_OPERATIONS:
        service, _, operation = action.partition(":")
        assert operation in session.get_service_model(SERVICES.get(service, service)).operation_names, action
