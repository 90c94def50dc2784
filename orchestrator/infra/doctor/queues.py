"""Can launchers run, and how many at once?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.queues import Queues
from orchestrator.aws.account.service_quotas import list_quotas
from orchestrator.errors import CloudError
from orchestrator.infra.doctor import network
from orchestrator.plan.launcher_price import LAUNCHERS_A_VCPU
from orchestrator.platforms.account.finding import DEPLOY, QUOTA, Finding, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.account.queues import Environment
    from orchestrator.infra.doctor.subject import Subject

_FARGATE = "Fargate On-Demand vCPU resource count"


def queues(subject: Subject) -> Iterator[Finding]:
    """Yield how each queue stands, what it runs on, and the way from there to S3."""
    names, there = subject.names, Queues(subject.clients, subject.names.region)
    environments: dict[str, None] = {}
    wanted = {names.queue: "queue", **dict.fromkeys(_lane_queues(subject), "lane_queue")}
    for name, setting in wanted.items():
        mend = f"aws batch describe-job-queues --job-queues {name} --region {names.region}"
        found = there.find(name)
        if found is None:
            given = f"name one that is there as `{setting}` in sweep.toml"
            yield wrong("queue", name, f"not there, in {names.region}", given if setting in names.theirs else DEPLOY)
        elif not found.is_enabled:
            enable = f"aws batch update-job-queue --job-queue {name} --state ENABLED --region {names.region}"
            yield wrong("queue", name, "disabled: nothing starts from it", enable)
        elif not found.is_valid:
            yield wrong("queue", name, f"not valid: {found.reason}", mend)
        else:
            environments |= dict.fromkeys(found.environments)
            yield ok("queue", name, f"ready, in {names.region}")
    for each in environments:
        environment = there.environment(each)
        if environment is not None:
            yield from _environment(subject, environment)


def _lane_queues(subject: Subject) -> list[str]:
    """Return the queues of lanes; nothing of a name that tells instance types apart: nobody says which there are."""
    if any(fact in subject.names.lane_queue for fact in ("{instance_type}", "{purchase}")):
        return []
    return subject.names.lane_queues()


def _environment(subject: Subject, found: Environment) -> Iterator[Finding]:
    region, about = subject.names.region, "environment"
    if not (found.is_enabled and found.is_valid):
        mend = f"aws batch describe-compute-environments --compute-environments {found.name} --region {region}"
        yield wrong(about, found.name, f"not ready: {found.reason or 'disabled'}", mend)
        return
    at_once, asked = found.max_vcpus * LAUNCHERS_A_VCPU, subject.need.tasks_at_once
    if asked > at_once:
        mend = f"write `max_vcpus = {-(-asked // LAUNCHERS_A_VCPU)}` below [infra] in sweep.toml, then {DEPLOY}"
        yield warning(about, found.name, f"{at_once:,} tasks at once, and the plan has {asked:,}: the rest wait", mend)
    else:
        yield ok(about, found.name, f"{found.max_vcpus:,} vCPUs: {at_once:,} tasks at once")
    yield from _fargate(subject, found)
    yield from network.ways_to_s3(subject, found.subnets)


def _fargate(subject: Subject, found: Environment) -> Iterator[Finding]:
    """Yield whether Fargate's quota lets so many launchers run."""
    region = subject.names.region
    try:
        quotas = {quota.name: quota.value for quota in list_quotas(subject.clients, region, "fargate")}
    except CloudError as error:
        yield warning("quota", region, f"Fargate's was not looked at: {error.message}", "sweep doctor")
        return
    limit = quotas.get(_FARGATE)
    needed = -(-subject.need.tasks_at_once // LAUNCHERS_A_VCPU) or found.max_vcpus
    if limit is None or limit >= needed:
        yield ok("quota", region, f"Fargate: {limit:,.0f} vCPUs" if limit is not None else "Fargate's own")
        return
    mend = (
        f"aws service-quotas request-service-quota-increase --service-code fargate --quota-code L-3032A538 "
        f"--desired-value {needed} --region {region}"
    )
    message = f"Fargate: {limit:,.0f} vCPUs, so {limit * LAUNCHERS_A_VCPU:,.0f} tasks at once"
    if subject.need.tasks_at_once:
        yield wrong("quota", region, f"{message}, and the plan has {subject.need.tasks_at_once:,}", mend, QUOTA)
    else:
        yield warning("quota", region, message, mend)
