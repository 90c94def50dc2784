"""Everybody does what they have to under exactly the policies that are deployed, and each grant of these is needed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.images import launcher
from orchestrator.infra.policies import policy
from tests.cli.held_account import ACCOUNT, KNOWN, PEOPLE, REGION, ROLES, Account, make_ready
from tests.images.parts import FILES
from tests.infra.replay import actions, refused, without

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

NOT_IN_THIS_FLOW = {
    "submit": {
        "batch:UpdateConsumableResource": "a lane's slots change with its quota, and by `sweep limit`",
        "s3:DeleteObject": "a cancel or a retry replaces news that a dead launcher has left",
        "sagemaker:DescribeTrainingJob": "status and cancel look at trainings whose launchers are dead",
        "batch:CancelJob": "replan ends jobs that wait for tasks that it has moved",
        "sagemaker:ListTags": "cancel tells a training of the run by its tag, where a launcher died while it started",
        "sagemaker:StopTrainingJob": "cancel stops what no launcher stops",
    },
    "refresh": {
        "savingsplans:DescribeSavingsPlanRates": "asked of an account that has a savings plan",
        **dict.fromkeys(
            ("eks:DescribeCluster", "eks:DescribeNodegroup", "eks:ListNodegroups"),
            "asked of an account that has a cluster",
        ),
    },
    "schedules": {
        "ecr:BatchGetImage": "the conductor's image of this flow is in no registry",
        "sqs:ChangeMessageVisibility": "everything is delivered here: there is no letter to give back",
    },
    "conductor": {
        "batch:RegisterJobDefinition": "the launchers of this night are those of the run before it",
        "iam:PassRole": "registering launchers passes them their roles",
        "batch:CreateConsumableResource": "the slots of a lane are made by the first run that uses it",
        "batch:UpdateConsumableResource": "a lane's slots change with its quota",
        **dict.fromkeys(
            (
                "batch:CancelJob",
                "batch:TerminateJob",
                "s3:DeleteObject",
                "sagemaker:ListTags",
                "sagemaker:StopTrainingJob",
            ),
            "a night that is replaced cancels its runs",
        ),
        "sagemaker:DescribeTrainingJob": "status looks at trainings whose launchers are dead",
        **dict.fromkeys(
            ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"),
            "a tick looks for what was not delivered; this night is begun by hand",
        ),
        **dict.fromkeys(
            ("ec2:DescribeRegions", "logs:DescribeLogStreams", "logs:GetLogEvents", "sagemaker:ListTrainingJobs"),
            "nights need none of these: a platform says in one what submitting needs, for people and conductors",
        ),
    },
    "launcher": {
        "s3:ListMultipartUploadParts": "a large checkpoint that goes to another Region goes in parts",
        "sagemaker:ListTags": "a launcher that starts anew adopts a training by its tag",
        "sagemaker:ListTrainingJobs": "one launcher lists what has ended, where many run at once",
        "sagemaker:StopTrainingJob": "a launcher stops a training that is cancelled before its array is terminated",
    },
    "training": {
        "cloudwatch:PutMetricData": "SageMaker itself writes what instances measure; the local cloud measures none",
        "s3:DeleteObject": "a training's own code may take old checkpoints away",
        "logs:CreateLogGroup": "SageMaker makes its log group in a Region at the first training there",
        "logs:DescribeLogStreams": "SageMaker looks for the streams of its hosts; the local cloud need not",
        **dict.fromkeys(
            (
                "ec2:CreateNetworkInterface",
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ),
            "SageMaker puts a training into a VPC: docs/sagemaker.md, Security",
        ),
        **dict.fromkeys(
            ("kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"),
            "volumes, outputs and data under keys of the team's own; the local cloud has no KMS",
        ),
        **dict.fromkeys(
            (
                "elasticfilesystem:ClientMount",
                "elasticfilesystem:ClientWrite",
                "elasticfilesystem:DescribeFileSystems",
                "elasticfilesystem:DescribeMountTargets",
                "fsx:DescribeFileSystems",
            ),
            "channels on file systems; the local cloud has none",
        ),
    },
}
"""What is granted and needed, though nobody asks for it in the flow below: why."""


REFUSED = {"submit": ["ec2:DescribeInstances on *", "ec2:DescribeVolumes on *", "eks:ListClusters on *"]}
"""What is asked though it is not granted: `sweep reap` looks at platforms besides that the settings do not train on, as
far as it may."""


def cancel_while_training(sweep: Sweep, account: Account) -> None:
    """Cancel a run whose first training runs, and whose second waits for its slot."""
    Path("src/train.py").write_text("import time\ntime.sleep(600)\n")
    started = sweep("submit", "sweep.yaml", "--yes", "--name", "second")
    assert started.code == 0, started.err
    sagemaker = account.client("sagemaker", REGION)
    until = time.monotonic() + 300
    while not sagemaker.list_training_jobs(StatusEquals="InProgress")["TrainingJobSummaries"]:
        assert time.monotonic() < until
        time.sleep(1)
    cancelled = sweep("cancel", "second", "--yes")
    assert cancelled.code == 0, cancelled.err


def train_at_night(sweep: Sweep, account: Account) -> None:
    """Let a night train, as somebody has scheduled it, in a job under the conductor's role."""
    account.be("schedules")
    account.monkeypatch.setenv("SWEEP_CONDUCTOR_IMAGE", "sweep-conductor")
    assert sweep("catalog", "push").code == 0
    made = sweep("schedule", "create", "sweep.yaml", "--name", "nightly", "--cron", "0 2 * * *", "--yes")
    assert made.code == 0, made.err
    assert sweep("schedule", "run-now", "nightly").code == 0
    until = time.monotonic() + 300
    while (night := last_night(sweep))["exit"] is None:
        assert time.monotonic() < until, night
        time.sleep(1)
    assert night["exit"] == 0, night
    assert night["why"].startswith("2 of 2 tasks done"), night
    for command in ("pause", "resume", "show"):
        assert sweep("schedule", command, "nightly").code == 0, command
    for action in ("scheduler:DeleteSchedule", "s3:DeleteObject"):
        with account.lacking("schedules", action):
            missing = sweep("schedule", "delete", "nightly", "--yes")
        assert (missing.code, f"is not authorized to perform: {action} on resource:" in missing.err) == (4, True)
    assert sweep("schedule", "delete", "nightly", "--yes").code == 0


def last_night(sweep: Sweep) -> dict[str, Any]:
    """The newest night of the schedule, as its history shows it."""
    return dict(json.loads(sweep("schedule", "history", "nightly", "--json").out)[0])


def needed(whole: dict[str, Any], asked: list[dict[str, Any]]) -> set[str]:
    """The actions of a policy without which something would have been refused that was not."""
    before = len(refused(whole, asked))
    return {action for action in actions(whole) if len(refused(without(whole, action), asked)) > before}


@pytest.mark.long
def test_everybody_does_their_work_under_the_deployed_policies_and_needs_each_grant(
    sweep: Sweep, account: Account
) -> None:
    make_ready(sweep, account)
    account.be("images")
    account.monkeypatch.setattr(launcher, "installed_files", lambda: {**FILES, "newer.py": b"1"})
    assert sweep("images", "launcher").code == 0
    account.be("refresh")
    with account.lacking("refresh", "ec2:DescribeSpotPriceHistory"):
        less = sweep("catalog", "refresh")
    assert "ec2:DescribeSpotPriceHistory" in less.err
    assert sweep("catalog", "refresh").code == 0
    assert sweep("catalog", "refresh", "placement-scores").code == 0

    account.be("submit")
    account.monkeypatch.setenv("SWEEP_NOTIFY", KNOWN.topic)
    assert sweep("catalog", "discover", f"s3://sweep-data-{ACCOUNT}-{REGION}/campaigns/").code == 0
    for action in ("iam:PassRole", "batch:SubmitJob"):
        with account.lacking("submit", action):
            missing = sweep("submit", "sweep.yaml", "--yes", "--name", "first")
        assert missing.code == 4
        assert f"is not authorized to perform: {action} on resource:" in missing.err
    assert sweep("submit", "sweep.yaml", "--yes", "--name", "first", "--watch").code == 0
    for command in ("logs", "results", "cost", "why", "sync"):
        assert sweep(command, "first").code == 0, command
    train_at_night(sweep, account)
    account.be("submit")
    cancel_while_training(sweep, account)
    assert sweep("reap").code == 0

    asked = account.asked()
    for role in (*ROLES, *PEOPLE):
        whole = policy(role, KNOWN)
        assert {role: sorted(refused(whole, asked[role]))} == {role: sorted(REFUSED.get(role, []))}
        elsewhere = NOT_IN_THIS_FLOW.get(role, {}).keys()
        assert elsewhere <= actions(whole)
        assert actions(whole) - needed(whole, asked[role]) - elsewhere == set()
