"""What EKS needs in an account, and what of ours runs there.

The statements go into the policies of roles. What the roles may do inside a cluster, its access entries say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.account.statements import allow
from orchestrator.platforms.eks.account.check import check
from orchestrator.platforms.eks.account.resources import make_resources
from orchestrator.platforms.eks.alive import alive
from orchestrator.platforms.eks.feeds import FEEDS
from orchestrator.platforms.eks.leftovers import leftovers, remove
from orchestrator.platforms.eks.steps import steps

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

_CLUSTERS = "arn:aws:eks:*:{account}:cluster/*"
_TRAININGS = "arn:aws:s3:::*/runs/*/trainings/*"
_LOGS = "arn:aws:logs:*:{account}:log-group:/sweep/trainings:*"


class EksOperating:
    """Knows what EKS needs in an account: see `platforms.account.operating.Operating` for what each method promises."""

    def permissions(self, role: str) -> Sequence[Mapping[str, object]]:
        return _STATEMENTS.get(role, ())

    def trusted(self) -> Sequence[str]:
        return ("pods.eks.amazonaws.com",)

    def feeds(self) -> Sequence[Feed]:
        return FEEDS

    def resources(self, wanted: Wanted) -> Mapping[str, Mapping[str, object]]:
        return make_resources(wanted)

    def check(self, clients: Clients, wanted: Wanted) -> Iterator[Finding]:
        return check(clients, wanted)

    def regions(self, clients: Clients) -> Sequence[str]:
        return clients.regions("eks")

    def image(self, template: Template, lane: Lane) -> str:  # noqa: ARG002
        return str(template.body["image"])

    def steps(self, clients: Clients, attempt: Attempt) -> Sequence[StepTaken]:
        return steps(clients, attempt)

    def alive(self, clients: Clients, region: str) -> Iterator[Alive]:
        return alive(clients, region)

    def leftovers(self, clients: Clients, region: str) -> Iterator[Leftover]:
        return leftovers(clients, region)

    def remove(self, clients: Clients, leftover: Leftover) -> None:
        remove(clients, leftover)


_READ_LOGS = ["logs:DescribeLogStreams", "logs:GetLogEvents"]
_STATEMENTS = {
    "submit": (
        allow("FindClusters", ["eks:ListClusters"], "*"),
        allow("LookAtClusters", ["eks:DescribeCluster"], _CLUSTERS),
        allow("SeeHowTrainingsInPodsEnd", ["s3:GetObject", "s3:PutObject"], _TRAININGS),
        allow("PinImagesOfPods", ["ecr:BatchGetImage"], "arn:aws:ecr:*:{account}:repository/*"),
        allow("ReadLogsOfPods", _READ_LOGS, _LOGS),
        allow("SeeWhatSpotNodesCost", ["ec2:DescribeSpotPriceHistory"], "*"),
    ),
    "launcher": (
        allow("FindTheCluster", ["eks:DescribeCluster"], _CLUSTERS),
        allow("KeepHowTrainingsInPodsEnd", ["s3:GetObject", "s3:PutObject"], _TRAININGS),
        allow("ReadMetricsInLogsOfPods", _READ_LOGS, _LOGS),
        allow("SeeWhatSpotNodesCost", ["ec2:DescribeSpotPriceHistory"], "*"),
    ),
    "training": (
        allow(
            "LogFromPods",
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            "arn:aws:logs:*:{account}:log-group:/sweep/*",
        ),
    ),
}
"""The statements by the role that needs them."""
