"""Who are we, by which clock, and in which Regions?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessError
from orchestrator.infra.names import account_of_roles
from orchestrator.platforms import registry
from orchestrator.platforms.account.finding import DEPLOY, Finding, ok, warning, wrong
from orchestrator.settings.settings import PROJECT_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.infra.doctor.subject import Subject
    from orchestrator.settings.settings import Settings

_TOO_FAR_S = 300.0
"""Seconds that a clock may be wrong before AWS refuses what it has signed."""
_FAR_S = 60.0


@dataclass(frozen=True)
class Who:
    """Whose credentials these are, and how far our clock is ahead of AWS's."""

    account: str
    arn: str
    ahead_s: float

    @property
    def principal(self) -> str:
        """The ARN by which IAM's simulator knows us; empty for the account's root and for what is no user or role."""
        kind, _, name = self.arn.rpartition(":")[2].partition("/")
        if kind == "assumed-role":
            return f"arn:{self.arn.split(':')[1]}:iam::{self.account}:role/{name.partition('/')[0]}"
        return self.arn if kind in ("user", "role") else ""


def who(clients: Clients, region: str) -> Who:
    """Return who we are, as AWS says in a Region."""
    with aws_errors("ask whose these credentials are", where=region):
        answer = clients.client("sts", region).get_caller_identity()
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    ahead = time.time() - parsedate_to_datetime(date).timestamp() if date else 0.0
    return Who(answer["Account"], answer["Arn"], ahead)


def credentials(who: Who, ours: Settings) -> Iterator[Finding]:
    """Yield whose credentials these are, and whether the settings speak of the same account."""
    other = account_of_roles(ours)
    if other and other != who.account:
        message = f"of the account {who.account}, and the settings name roles of {other}"
        yield wrong("credentials", who.arn, message, "aws configure list-profiles", 4)
    else:
        yield ok("credentials", who.arn, f"of the account {who.account}")


def clock(who: Who) -> Finding:
    """Return how far our clock is from AWS's."""
    apart = f"{abs(who.ahead_s):.0f} s {'ahead of' if who.ahead_s > 0 else 'behind'} AWS's"
    if abs(who.ahead_s) > _TOO_FAR_S:
        return wrong("clock", "this machine", f"{apart}: AWS refuses what it signs", "sudo timedatectl set-ntp true", 4)
    if abs(who.ahead_s) > _FAR_S:
        return warning("clock", "this machine", apart, "sudo timedatectl set-ntp true")
    return ok("clock", "this machine", "agrees with AWS's")


def settings(subject: Subject) -> Iterator[Finding]:
    """Yield which settings are missing that no run can do without."""
    ours = subject.settings
    needed = ("bucket", "region_bucket", "launcher_image", *(() if ours.role else ("job_role", "execution_role")))
    missing = [name for name in needed if not getattr(ours, name)]
    if missing:
        yield wrong("setting", ", ".join(missing), f"not set in {PROJECT_FILE}", DEPLOY)
    else:
        yield ok("setting", PROJECT_FILE, "names all that a run needs")


def regions(subject: Subject) -> Iterator[Finding]:
    """Yield whether each Region is enabled in the account, and has the platforms."""
    for region in subject.names.regions:
        try:
            who(subject.clients, region)
        except AccessError:
            mend = f"aws account enable-region --region-name {region}"
            yield wrong("Region", region, "not enabled in this account", mend, 4)
            continue
        lacking = [
            name
            for name in subject.names.platforms
            if (known := registry.make_operating(name).regions(subject.clients)) and region not in known
        ]
        if lacking:
            is_only_one = len(subject.names.regions) == 1
            mend = f"{DEPLOY} --region ANOTHER" if is_only_one else f"sweep infra destroy --region {region}"
            yield wrong("Region", region, f"has no {', '.join(lacking)}: train in another", mend)
        else:
            yield ok("Region", region, f"enabled, with {', '.join(subject.names.platforms)}")
