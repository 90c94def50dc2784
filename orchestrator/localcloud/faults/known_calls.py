"""Which calls can a fault mean? Those of AWS's services, as botocore knows them: any other would never be hit."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SERVICES = frozenset(
    [
        "batch",
        "cloudformation",
        "ec2",
        "ecr",
        "eks",
        "events",
        "iam",
        "logs",
        "pricing",
        "s3",
        "sagemaker",
        "scheduler",
        "secretsmanager",
        "servicequotas",
        "ssm",
        "sts",
    ]
)
"""The services among which an operation is looked for whose service has an asterisk in it."""
FILED_AS = {"servicequotas": "service-quotas"}
"""What botocore calls a service that requests call otherwise."""
OURS = {
    "kubernetes": frozenset(
        f"{verb}{kind}"
        for verb, kinds in {
            "Create": "Job Service PersistentVolumeClaim ResourceQuota ServiceAccount Namespace LocalQueue",
            "Get": "Job Service Pod PodLog Node Namespace ServiceAccount PersistentVolumeClaim ResourceQuota "
            "LocalQueue",
            "List": "Jobs Services Pods Events Nodes Namespaces ResourceQuotas LocalQueues",
            "Watch": "Jobs Services Pods Events Nodes Namespaces ResourceQuotas LocalQueues",
            "Patch": "Job",
            "Delete": "Job Service Pod LocalQueue",
        }.items()
        for kind in kinds.split()
    )
}
"""The calls of services that botocore does not know: the Kubernetes API of an EKS cluster."""


def check_calls(what: str) -> None:
    """Raise ValueError, with what comes near, unless `service:Operation` names a call that there is."""
    service, colon, operation = what.partition(":")
    services = [known for known in _services() if fnmatchcase(known, service)]
    if not services:
        raise ValueError(f"there is no service {service!r}{_near(service, _services())}")
    if not colon or operation == "*":
        return
    operations = {each for known in services if len(services) == 1 or known in SERVICES for each in _of(known)}
    if not any(fnmatchcase(known, operation) for known in operations):
        raise ValueError(f"{service} has no operation {operation!r}{_near(operation, operations)}")


def _near(name: str, known: Iterable[str]) -> str:
    """Return what a name may have been meant to be, as the end of a sentence; else how calls are written."""
    near = get_close_matches(name, sorted(known), 3)
    return f": did you mean {' or '.join(near)}?" if near else ": write it like sagemaker:CreateTrainingJob, or s3:*"


@cache
def _services() -> tuple[str, ...]:
    from botocore.session import get_session

    filed = {name: called for called, name in FILED_AS.items()}
    return (*(filed.get(name, name) for name in get_session().get_available_services()), *OURS)


@cache
def _of(service: str) -> frozenset[str]:
    from botocore.session import get_session

    if service in OURS:
        return OURS[service]
    return frozenset(get_session().get_service_model(FILED_AS.get(service, service)).operation_names)
