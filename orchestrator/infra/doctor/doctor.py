"""Looks at everything, one thing after the other. What we may not look at is not said to be missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.aws.session import Clients
from orchestrator.errors import AccessError, SweepError
from orchestrator.infra.doctor import buckets, data, dead_letters, identity, images, platforms, queues, quotas, roles
from orchestrator.infra.doctor.subject import Need, Subject
from orchestrator.infra.names import names
from orchestrator.platforms.account.finding import OTHER, PERMISSION, Finding, carefully, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.infra.names import Names
    from orchestrator.settings.settings import Settings

_CHECKS: tuple[tuple[str, Callable[[Subject], Iterator[Finding]]], ...] = (
    ("setting", identity.settings),
    ("Region", identity.regions),
    ("bucket", buckets.control),
    ("bucket", buckets.data),
    ("role", roles.roles),
    ("permission", roles.permissions),
    ("data", data.data),
    ("queue", queues.queues),
    ("dead letters", dead_letters.dead_letters),
    ("image", images.images),
    ("quota", quotas.quotas),
    ("platform", platforms.platforms),
)


def examine(settings: Settings, need: Need) -> Iterator[Finding]:
    """Yield how each thing stands. Nothing further is looked at where nobody knows who we are."""
    clients = Clients(settings.profile)
    try:
        who = identity.who(clients, settings.region)
    except SweepError as error:
        if not isinstance(error, AccessError):
            reach = f"curl --head https://sts.{settings.region}.amazonaws.com"
            yield wrong("credentials", settings.region, error.message, reach)
            return
        mend = "aws sso login" if settings.profile is None else f"aws sso login --profile {settings.profile}"
        message = f'{error.message}; for an AWS on this machine, `eval "$(sweep local up -d)"` gives some'
        yield wrong("credentials", settings.region, message, mend, PERMISSION)
        return
    yield from identity.credentials(who, settings)
    yield identity.clock(who)
    subject = Subject(settings, clients, in_force(settings, who.account), need, who.principal)
    for about, check in _CHECKS:
        yield from carefully(about, settings.region, check(subject))


def in_force(settings: Settings, account: str) -> Names:
    """Return the names that runs use now, whoever has made what they name; those of what is not set yet as we would."""
    ours = names(settings, account)
    stands_in = settings.role or ""
    said = {
        "queue": settings.queue if settings.bucket else "",
        "lane_queue": (settings.lane_queue or settings.queue) if settings.bucket else "",
        "job_role": settings.job_role or stands_in,
        "execution_role": settings.execution_role or stands_in,
        "conductor_role": settings.conductor_role or settings.job_role or stands_in,
    }
    known: dict[str, Any] = {name: value for name, value in said.items() if value}
    theirs = {name for name, value in known.items() if value != getattr(ours, name)}
    if not settings.conductor_role:  # another role stands in for it only until one is made
        theirs.discard("conductor_role")
    return replace(ours, **known, theirs=ours.theirs | theirs)


def exit_code(findings: Sequence[Finding]) -> int:
    """Return the exit code of what was found: permissions first, then quotas, then whatever else is wrong."""
    codes = {finding.exit_code for finding in findings}
    return next((code for code in (PERMISSION, 6, OTHER) if code in codes), 0)
