"""What every service of ours stands on, made once by the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.machines.processes import Processes
    from orchestrator.localcloud.services.events import Events
    from orchestrator.localcloud.services.logs import Logs
    from orchestrator.localcloud.services.moto_backends import Objects
    from orchestrator.localcloud.services.quotas import Quotas
    from orchestrator.localcloud.services.sagemaker.starter import Starter


@dataclass(frozen=True)
class Site:
    account: str
    work: Path
    """Where processes have their folders while they run."""
    scratch: Path
    """The same, with a short name: a socket's path has at most 107 bytes."""
    clock: Clock
    processes: Processes
    logs: Logs
    objects: Objects
    quotas: Quotas
    events: Events
    starter: Starter
    """Of trainings."""
    environment: Mapping[str, str]
    """Of every process: its way to this cloud, and to programs."""

    def arn(self, service: str, region: str, resource: str) -> str:
        return f"arn:aws:{service}:{region}:{self.account}:{resource}"
