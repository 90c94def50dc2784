"""What bare EC2 instances need in an account, and what of ours runs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.account.statements import OF_A_RUN, TAGGED, allow
from orchestrator.platforms.ec2.account.alive import alive
from orchestrator.platforms.ec2.account.check import check
from orchestrator.platforms.ec2.account.leftovers import leftovers, remove
from orchestrator.platforms.ec2.feeds import reserved, savings_plans, vcpu_quotas, vcpu_use
from orchestrator.platforms.ec2.watching.steps import steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.account.leftover import Leftover
    from orchestrator.platforms.account.wanted import Wanted
    from orchestrator.platforms.feed import Feed
    from orchestrator.platforms.lives import Alive, StepTaken
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Lane
    from orchestrator.wire.template import Template

_INSTANCES = "arn:aws:ec2:*:{account}:instance/*"
_GROUPS = "arn:aws:ec2:*:{account}:placement-group/*"
_LOGS = "arn:aws:logs:*:{account}:log-group:/sweep/trainings:*"
_ATTEMPTS = "arn:aws:s3:::{buckets}/runs/*"


class Ec2Operating:
    """Knows what EC2 needs in an account: see `platforms.account.operating.Operating` for what each method promises."""

    def permissions(self, role: str) -> Sequence[Mapping[str, object]]:
        return _STATEMENTS.get(role, ())

    def trusted(self) -> Sequence[str]:
        return ("ec2.amazonaws.com",)

    def feeds(self) -> Sequence[Feed]:
        return (vcpu_quotas.FEED, vcpu_use.FEED, reserved.FEED, savings_plans.FEED)

    def resources(self, wanted: Wanted) -> Mapping[str, Mapping[str, object]]:  # noqa: ARG002
        return {}

    def check(self, clients: Clients, wanted: Wanted) -> Iterator[Finding]:
        return check(clients, wanted)

    def regions(self, clients: Clients) -> Sequence[str]:
        return clients.regions("ec2")

    def image(self, template: Template, lane: Lane) -> str:  # noqa: ARG002 (all types run the same one)
        return str(template.body["ec2"]["container"])

    def steps(self, clients: Clients, attempt: Attempt) -> Sequence[StepTaken]:
        return steps(clients, attempt)

    def alive(self, clients: Clients, region: str) -> Iterator[Alive]:
        return alive(clients, region)

    def leftovers(self, clients: Clients, region: str) -> Iterator[Leftover]:
        return leftovers(clients, region)

    def remove(self, clients: Clients, leftover: Leftover) -> None:
        remove(clients, leftover)


_LOOK = [
    # AWS lists all of these or none: the actions take no resource.
    allow(
        "LookAtInstances",
        ["ec2:DescribeInstances", "ec2:DescribeSpotInstanceRequests", "ec2:DescribeSpotPriceHistory"],
        "*",
    ),
    allow("ReadAndRememberAttempts", ["s3:GetObject", "s3:PutObject"], _ATTEMPTS),
    allow("TellMissingFromForbidden", ["s3:ListBucket"], "arn:aws:s3:::{buckets}"),
    # IAM takes policies of a certain length only: what is alike is said at once.
    allow("EndTheInstancesOfRuns", ["ec2:TerminateInstances", "ec2:GetConsoleOutput"], _INSTANCES, Condition=OF_A_RUN),
    allow("RemoveTheirPlacementGroups", ["ec2:DeletePlacementGroup"], _GROUPS),
    allow("ReadTheLogsOfInstances", ["logs:DescribeLogStreams", "logs:GetLogEvents"], _LOGS),
]

_STATEMENTS = {
    "submit": (
        *_LOOK,
        allow(
            "LookForLeftovers",
            [
                "ec2:DescribeVolumes",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribePlacementGroups",
            ],
            "*",
        ),
        allow(
            "RemoveTheLeftoversOfRuns",
            ["ec2:DeleteVolume", "ec2:DeleteNetworkInterface", "ec2:CancelSpotInstanceRequests"],
            [
                f"arn:aws:ec2:*:{{account}}:{kind}/*"
                for kind in ("volume", "network-interface", "spot-instances-request")
            ],
            Condition=OF_A_RUN,
        ),
        allow(
            "LookAtImagesSubnetsAndReservations",
            [
                "ec2:DescribeImages",
                "ec2:DescribeSubnets",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeKeyPairs",
                "ec2:DescribeCapacityReservations",
                "ec2:DescribeInstanceTypeOfferings",
            ],
            "*",
        ),
        allow("LookAtInstanceProfiles", ["iam:GetInstanceProfile"], "arn:aws:iam::{account}:instance-profile/*"),
        allow("FindImagesOfAmazon", ["ssm:GetParameter"], "arn:aws:ssm:*::parameter/aws/service/*"),
    ),
    "launcher": (
        *_LOOK,
        allow(
            "LaunchInstances",
            ["ec2:RunInstances"],
            [
                "arn:aws:ec2:*::image/*",
                "arn:aws:ec2:*::snapshot/*",
                "arn:aws:ec2:*:*:capacity-reservation/*",  # others may share theirs
                *(
                    f"arn:aws:ec2:*:{{account}}:{kind}/*"
                    for kind in ("subnet", "security-group", "key-pair", "placement-group")
                ),
            ],
        ),
        allow(
            "LaunchOnlyWhatCarriesTheTagOfARun",
            ["ec2:RunInstances"],
            [
                f"arn:aws:ec2:*:{{account}}:{kind}/*"
                for kind in ("instance", "volume", "network-interface", "spot-instances-request")
            ],
            Condition=TAGGED,
        ),
        allow("MakePlacementGroups", ["ec2:CreatePlacementGroup"], _GROUPS, Condition=TAGGED),
        # Tags are given as things are made only: nobody makes somebody else's instance a run's.
        allow(
            "TagThemAsTheyAreMade",
            ["ec2:CreateTags"],
            "arn:aws:ec2:*:{account}:*/*",
            Condition={"StringEquals": {"ec2:CreateAction": ["RunInstances", "CreatePlacementGroup"]}},
        ),
        allow(
            "StartInstancesUnderTheRoleOfTrainings",
            ["iam:PassRole"],
            ["arn:aws:iam::{account}:role/sweep-training", "arn:aws:iam::{account}:role/sweep-training-*"],
            Condition={"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        ),
    ),
    "training": (
        allow(
            "LogFromInstances",
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
            "arn:aws:logs:*:{account}:log-group:/sweep/*",
        ),
        allow(
            "PullTheImageToInstances",
            [
                "ecr:GetAuthorizationToken",
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            "*",
        ),
    ),
}
"""The statements by the role that needs them."""
