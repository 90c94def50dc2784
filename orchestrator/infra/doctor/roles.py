"""May the roles do what they have to? Whether they may is what IAM's simulator says: it is not tried."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.aws.account.iam import find_role, simulate
from orchestrator.errors import NotFound
from orchestrator.infra import policies
from orchestrator.infra.managed import managed_policies
from orchestrator.infra.statements import listed
from orchestrator.platforms.account.finding import DEPLOY, Finding, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.infra.doctor.subject import Subject

_ROLE_OF = {
    "role": "training",
    "job_role": "launcher",
    "execution_role": "launcher-start",
    "conductor_role": "conductor",
    "schedule_role": "schedule",
}
_CONTAINERS = ["ecs-tasks.amazonaws.com"]
_SCHEDULES = ["scheduler.amazonaws.com"]


def roles(subject: Subject) -> Iterator[Finding]:
    """Yield whether each role is there, and may be taken on by who has to."""
    for setting, services in _services(subject).items():
        arn = getattr(subject.names, setting)
        name = arn.rpartition("/")[2]
        found = find_role(subject.clients, subject.names.region, name)
        if found is None:
            given = (
                f"name one that is there as `{setting}` in sweep.toml" if setting in subject.names.theirs else DEPLOY
            )
            yield wrong("role", name, "not there", given)
        elif missing := sorted(set(services) - found.services):
            document = json.dumps(policies.trust(sorted(services)), separators=(",", ":"))
            trust = f"aws iam update-assume-role-policy --role-name {name} --policy-document '{document}'"
            mend = trust if setting in subject.names.theirs else DEPLOY
            yield wrong("role", name, f"{', '.join(missing)} may not take it on", mend, 4)
        else:
            yield ok("role", name, f"there, for {', '.join(services)}")


def permissions(subject: Subject) -> Iterator[Finding]:
    """Yield whether the simulator grants each role what its policy says that it needs."""
    for setting in _services(subject):
        arn, role = getattr(subject.names, setting), _ROLE_OF[setting]
        name = arn.rpartition("/")[2]
        if find_role(subject.clients, subject.names.region, name) is None:
            continue
        statements = policies.policy(role, subject.names)["Statement"]
        denied = [action for statement in statements for action in _denied(subject, arn, statement)]
        if denied:
            more = f", and {len(denied) - 3} more" if len(denied) > 3 else ""
            page = f"aws iam put-role-policy --role-name {name} --policy-name sweep --policy-document file://docs/policies/{role}.json"
            mend = page if setting in subject.names.theirs else DEPLOY
            yield wrong("permission", name, f"may not, simulated: {', '.join(denied[:3])}{more}", mend, 4)
        else:
            yield ok("permission", name, f"may do all that a {role} role needs (simulated, not tried)")
    if subject.principal:
        try:
            yield _ours(subject)
        except NotFound:
            message = "of no user or role that IAM's simulator knows: what they may do is not told"
            yield warning("permission", subject.principal, message, "sweep --profile NAME doctor")


def _ours(subject: Subject) -> Finding:
    """Return whether the simulator grants ourselves what submitting needs."""
    statements = policies.policy("submit", subject.names)["Statement"]
    denied = [action for statement in statements for action in _denied(subject, subject.principal, statement)]
    if not denied:
        return ok("permission", subject.principal, "may submit (simulated, not tried)")
    kind, _, name = subject.principal.rpartition(":")[2].partition("/")
    arn = f"arn:{subject.names.partition}:iam::{subject.names.account}:policy"
    attach = f"aws iam attach-{kind}-policy --{kind}-name {name.rpartition('/')[2]} --policy-arn {arn}"
    mend = " && ".join(f"{attach}/{each}" for each in managed_policies("submit", subject.names))
    return wrong("permission", subject.principal, f"may not submit, simulated: {', '.join(denied[:3])}", mend, 4)


def _services(subject: Subject) -> dict[str, list[str]]:
    """Return the services that take on each role, by its setting; a role that nobody takes on is not needed."""
    wanted = {"role": policies.training_services(subject.names), "job_role": _CONTAINERS, "execution_role": _CONTAINERS}
    if subject.has_nights:
        wanted |= {"conductor_role": _CONTAINERS, "schedule_role": _SCHEDULES}
    return {setting: services for setting, services in wanted.items() if services}


def _denied(subject: Subject, arn: str, statement: Mapping[str, Any]) -> list[str]:
    """Return what a statement means to allow and the simulator does not."""
    names = subject.names
    resources = [_example(each, names.region) for each in listed(statement["Resource"])]
    context = {
        key: "x" if operator == "Null" else str(listed(value)[0])
        for operator, keys in statement.get("Condition", {}).items()
        for key, value in keys.items()
    }
    return simulate(subject.clients, names.region, arn, listed(statement["Action"]), resources, context)


def _example(resource: str, region: str) -> str:
    """Return one resource of those that a pattern means; the simulator takes no patterns."""
    if resource == "*":
        return resource
    head, _, tail = resource.partition(":*:")
    return (f"{head}:{region}:{tail}" if tail else resource).replace("*", "x")
