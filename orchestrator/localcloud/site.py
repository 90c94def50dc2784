"""The things that all services of ours have in common. The server makes them once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.iam.service_roles import ServiceRoles
    from orchestrator.localcloud.machines.processes import Processes
    from orchestrator.localcloud.services.events import Events
    from orchestrator.localcloud.services.logs import Logs
    from orchestrator.localcloud.services.moto.backends import Objects
    from orchestrator.localcloud.services.quotas import Quotas
    from orchestrator.localcloud.services.sagemaker.toolkit.starter import Starter


@dataclass(frozen=True)
class Site:
    """What a service takes when it is made: an account, folders, and everything that services share."""

    account: str
    """The number of the one AWS account."""
    work: Path
    """The folder in which running processes have theirs."""
    scratch: Path
    """A folder for the same, with a short name: a socket's path has at most 107 bytes."""
    clock: Clock
    processes: Processes
    logs: Logs
    objects: Objects
    quotas: Quotas
    events: Events
    starter: Starter
    """What makes processes of a training's hosts."""
    environment: Mapping[str, str]
    """The variables of every process, which lead it to this cloud and to programs."""
    roles: ServiceRoles
    """What services may do under the roles that they are handed."""

    def arn(self, service: str, region: str, resource: str) -> str:
        """Return the ARN of a resource of this account."""
        return f"arn:aws:{service}:{region}:{self.account}:{resource}"
