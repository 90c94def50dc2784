"""The AWS that a run uses: the control Region's bucket and queue, and the platforms in every Region."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.aws.account import ecr
from orchestrator.aws.account.identity import account_of_credentials
from orchestrator.aws.control import Control
from orchestrator.aws.jobs.batch import Batch, register_definition_request
from orchestrator.aws.s3 import S3
from orchestrator.errors import CloudError, UsageError
from orchestrator.notices.channels import NOBODY, Channels
from orchestrator.platforms.registry import make_runner
from orchestrator.runs.written.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.session import Clients
    from orchestrator.plan.slots import LotKey
    from orchestrator.platforms.base import Planning, Runner

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Account:
    """The names of what a team's runs use in AWS. It holds no keys."""

    region: str
    bucket: str
    region_bucket: str
    """The bucket of a Region, with `{region}` in its name: sources and outputs lie beside the trainings."""
    queue: str
    lane_queue: str
    """The queue of tasks that wait for a lane's slots; its name may hold the lane's facts, as `sweep-{region}` does."""
    role: str
    """The ARN of the role that trainings run with; empty if the settings give none."""
    owner: str
    poll_s: float
    owner_budget: float | None = None
    """Dollars that the runs of one owner may cost which are submitted in a month; None for no limit."""
    channels: Channels = NOBODY
    """The team's addresses, which are told what becomes of runs."""
    mlflow: str = ""
    """The address of an MLflow server whose registry is told of champions; empty for none."""
    mlflow_token: str = ""
    """The reference to its token; empty if it takes none."""
    model_registry: str = ""
    """The Region of the SageMaker Model Registry that is told of champions; empty for none."""
    id: str = ""
    """The account's number; empty if no role in the settings says it."""
    definition: dict[str, Any] = field(default_factory=dict)
    """The launcher's job definition, rendered."""
    launcher_platforms: tuple[str, ...] = ()
    """Platforms that the launcher's image has besides those of this package, as the settings say."""

    @property
    def home(self) -> Home:
        """The place of the launchers of runs that are made here."""
        return Home(self.id, self.region, self.queue, self.lane_queue)


class Cloud:
    """The clients of everything that a team's runs use, each made on first use."""

    def __init__(self, clients: Clients, account: Account, planning: Callable[[str], Planning]) -> None:
        self.clients = clients
        self.account = account
        self.planning = planning
        """Returns the planning part of a platform. Raises UsageError when the platform is not installed here."""

    @cached_property
    def s3(self) -> S3:
        """The control bucket, where runs are written down."""
        return S3(self.clients, self.account.region, self.account.bucket)

    @cached_property
    def batch(self) -> Batch:
        return Batch(self.clients, self.account.region)

    @cached_property
    def definition(self) -> str:
        """The name of the launcher's job definition, which is registered first if it is not yet."""
        self.batch.ensure_definition(self.rendered)
        return str(register_definition_request(self.rendered)["jobDefinitionName"])

    @cached_property
    def rendered(self) -> dict[str, Any]:
        """The launcher's job definition with its image by digest. NotFound if there is no such image."""
        container = self.account.definition["containerProperties"]
        image = ecr.pin_image(container["image"], self.account.id, self.clients)
        return {**self.account.definition, "containerProperties": {**container, "image": image}}

    def queue(self, lot: LotKey | None) -> str:
        """Return the queue of an array: that of the lane whose instances its children wait for, or everybody's."""
        return self.account.home.queue_of(lot)

    @cached_property
    def signed_in(self) -> str:
        """The account that our credentials belong to; empty if AWS does not tell."""
        try:
            return account_of_credentials(self.clients, self.account.region)
        except CloudError as error:
            log.warning("%s", error)
            return ""

    def elsewhere(self, home: Home | None) -> str:
        """Return in words why nothing can be sent to this home, or be said of it, from here; else nothing."""
        if home and home.region != self.account.region:
            return f"its launchers are in {home.region}, not in {self.account.region}"
        known = home.account if home else ""
        for account, whose in ((self.account.id, "the roles in these settings"), (self.signed_in, "these credentials")):
            if known and account and account != known:
                return f"its launchers are in the account {known}, and {whose} are of {account}"
        return ""

    def refuse_elsewhere(self, run: str, home: Home | None) -> None:
        """Raise UsageError if nothing can be sent to this run's home from here."""
        why = self.elsewhere(home)
        if why:
            hint = "use the profile and the settings that it was submitted with"
            raise UsageError(f"run {run!r} cannot be changed from here: {why}", hint=hint)

    def control(self, run: str) -> Control:
        return Control(self.s3, run)

    def bucket_name(self, region: str) -> str:
        """Return the name of the bucket in which a Region's sources and outputs lie."""
        return self.account.region_bucket.replace("{region}", region)

    def bucket(self, region: str) -> S3:
        """Return the bucket in which a Region's sources and outputs lie."""
        return S3(self.clients, region, self.bucket_name(region))

    def located(self, uri: str, region: str) -> str:
        """Return a URI of a plan with the Region's bucket filled in: plans name no bucket for their copies."""
        return uri.replace("{bucket}", self.bucket_name(region))

    def runner(self, platform: str) -> Runner:
        """Return what runs trainings on this platform. UsageError if the platform is not installed here."""
        return make_runner(platform, self.clients)
