"""What SageMaker needs in an account, and what of ours runs there.

The statements go into the policies of roles: `orchestrator/infra/policies.py` puts them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.account.statements import OF_A_RUN, TAGGED, allow
from orchestrator.platforms.sagemaker.described.alive import alive
from orchestrator.platforms.sagemaker.described.steps import steps
from orchestrator.platforms.sagemaker.feeds.every import FEEDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.account.wanted import Wanted
    from orchestrator.platforms.feed import Feed
    from orchestrator.platforms.lives import Alive, StepTaken
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Lane
    from orchestrator.wire.template import Template

_TRAININGS = "arn:aws:sagemaker:*:{account}:training-job/*"
_KEYS = "arn:aws:kms:*:{account}:key/*"
_TRAINING_LOGS = "arn:aws:logs:*:{account}:log-group:/aws/sagemaker/TrainingJobs:*"


class SageMakerOperating:
    """Knows what SageMaker needs in an account. What each method promises, `platforms.account.operating` says."""

    def permissions(self, role: str) -> Sequence[Mapping[str, object]]:
        return _STATEMENTS.get(role, ())

    def trusted(self) -> Sequence[str]:
        return ("sagemaker.amazonaws.com",)

    def feeds(self) -> Sequence[Feed]:
        return FEEDS

    def resources(self, wanted: Wanted) -> Mapping[str, Mapping[str, object]]:  # noqa: ARG002
        return {}

    def check(self, clients: Clients, wanted: Wanted) -> Iterator[Finding]:  # noqa: ARG002
        return iter(())

    def regions(self, clients: Clients) -> Sequence[str]:
        return clients.regions("sagemaker")

    def image(self, template: Template, lane: Lane) -> str:
        algorithm = template.body["request"]["AlgorithmSpecification"]
        return str(template.body["images"].get(lane.instance_type) or algorithm.get("TrainingImage", ""))

    def steps(self, clients: Clients, attempt: Attempt) -> Sequence[StepTaken]:
        return steps(clients, attempt)

    def alive(self, clients: Clients, region: str) -> Iterator[Alive]:
        return alive(clients, region)


_READ_LOGS = ["logs:DescribeLogStreams", "logs:GetLogEvents"]

_STATEMENTS = {
    "submit": (
        # Without a condition: of what is not there, AWS must say so, and not that it may not be looked at.
        allow("LookAtTrainings", ["sagemaker:DescribeTrainingJob", "sagemaker:ListTags"], _TRAININGS),
        allow("StopTheTrainingsOfRuns", ["sagemaker:StopTrainingJob"], _TRAININGS, Condition=OF_A_RUN),
        # AWS lists all trainings or none: this action takes no resource.
        allow("FindWhatRuns", ["sagemaker:ListTrainingJobs"], "*"),
        allow("SeeWhichRegionsAreEnabled", ["ec2:DescribeRegions"], "*"),
        allow("PinImages", ["ecr:BatchGetImage"], "arn:aws:ecr:*:{account}:repository/*"),
        allow("ReadLogs", _READ_LOGS, _TRAINING_LOGS),
        # AWS describes all parameters or none: this action takes no resource. It tells no values.
        allow("LookForParameters", ["ssm:DescribeParameters"], "*"),
        allow(
            "LookForSecrets",
            ["secretsmanager:DescribeSecret"],
            "arn:aws:secretsmanager:*:{account}:secret:team/*",
        ),
    ),
    "launcher": (
        allow(
            "RunTrainings",
            ["sagemaker:CreateTrainingJob"],
            _TRAININGS,
            Condition=TAGGED,
        ),
        # Tags are given with CreateTrainingJob only: nobody makes somebody else's training a run's.
        allow(
            "TagTrainingsAsTheyAreMade",
            ["sagemaker:AddTags"],
            _TRAININGS,
            Condition={"StringEquals": {"sagemaker:TaggingAction": "CreateTrainingJob"}},
        ),
        allow("LookAtTrainings", ["sagemaker:DescribeTrainingJob", "sagemaker:ListTags"], _TRAININGS),
        allow("StopTheTrainingsOfRuns", ["sagemaker:StopTrainingJob"], _TRAININGS, Condition=OF_A_RUN),
        # AWS lists all trainings or none: this action takes no resource.
        allow("NoticeWhichHaveEnded", ["sagemaker:ListTrainingJobs"], "*"),
        allow("ReadTheirMetricsInTheirLogs", _READ_LOGS, _TRAINING_LOGS),
        allow(
            "StartTrainingsUnderTheirRole",
            ["iam:PassRole"],
            ["arn:aws:iam::{account}:role/sweep-training", "arn:aws:iam::{account}:role/sweep-training-*"],
            Condition={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        ),
    ),
    "training": (
        allow(
            "PullTheImage",
            [
                "ecr:GetAuthorizationToken",
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            "*",
        ),
        allow(
            "Log",
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            "arn:aws:logs:*:{account}:log-group:/aws/sagemaker/*",
        ),
        allow("Metrics", ["cloudwatch:PutMetricData"], "*"),
        # These actions take no resource, or one that is not there yet: the interfaces in the VPC.
        allow(
            "RunInAVpc",
            [
                "ec2:CreateNetworkInterface",
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ],
            "*",
        ),
        allow(
            "UseKeysForDataAndOutputs",
            ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"],
            _KEYS,
        ),
        allow(
            "LetVolumesUseTheirKey",
            ["kms:CreateGrant"],
            _KEYS,
            Condition={"Bool": {"kms:GrantIsForAWSResource": "true"}},
        ),
        allow(
            "MountFileSystems",
            [
                "elasticfilesystem:ClientMount",
                "elasticfilesystem:ClientWrite",
                "elasticfilesystem:DescribeFileSystems",
                "elasticfilesystem:DescribeMountTargets",
                "fsx:DescribeFileSystems",
            ],
            ["arn:aws:elasticfilesystem:*:{account}:file-system/*", "arn:aws:fsx:*:{account}:file-system/*"],
        ),
        allow("FetchTheirParameters", ["ssm:GetParameter"], "arn:aws:ssm:*:{account}:parameter/team/*"),
        allow(
            "FetchTheirSecrets",
            ["secretsmanager:GetSecretValue"],
            "arn:aws:secretsmanager:*:{account}:secret:team/*",
        ),
    ),
}
"""The statements by the role that needs them."""
