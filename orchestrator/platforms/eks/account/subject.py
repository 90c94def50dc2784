"""What is looked at: a cluster, and the namespace that trainings have there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.account.finding import DEPLOY

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.wanted import Wanted
    from orchestrator.platforms.eks.asked import Asked, Settings


@dataclass(frozen=True)
class Subject:
    """A cluster, as it is wanted."""

    clients: Clients
    wanted: Wanted
    settings: Settings
    asked: Asked
    """What the sweep asks for, over what is usual."""
    described: dict[str, Any]
    """What EKS says of the cluster."""
    namespace: str
    account: str
    """The service account of pods."""

    @property
    def cluster(self) -> str:
        return str(self.described["name"])

    @property
    def region(self) -> str:
        return self.wanted.region

    @property
    def inside(self) -> str:
        """What the namespace is called in what is found: its cluster comes first."""
        return f"{self.cluster}/{self.namespace}"

    def eks(self, command: str, options: str = "") -> str:
        """Return a command of the AWS CLI about the cluster."""
        return f"aws eks {command} --cluster-name {self.cluster} {options} --region {self.region}".replace("  ", " ")

    def kubectl(self, words: str) -> str:
        """Return a command of kubectl, which knows the cluster by its ARN: `aws eks update-kubeconfig` sees to that."""
        return f"kubectl --context {self.described['arn']} {words}"

    def let_in(self, otherwise: str) -> str:
        """Return the command that lets somebody in: infra's, unless the team does that by itself."""
        return DEPLOY if self.settings.access == "made" else otherwise
