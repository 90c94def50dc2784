"""Is the cluster there, new enough, and reached?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.account.finding import ok, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.errors import Unreachable
    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.eks.account.subject import Subject

_OLDEST = (1, 31)
"""The first version whose Indexed Jobs do all that an attempt asks for."""


def state(subject: Subject) -> Iterator[Finding]:
    """Yield what is in the way of a cluster, as EKS describes it; nothing if nothing is."""
    told = subject.described.get("status")
    if told != "ACTIVE":
        wait = f"aws eks wait cluster-active --name {subject.cluster} --region {subject.region}"
        yield wrong("cluster", subject.cluster, f"is {told}, in {subject.region}", wait)
    mode = (subject.described.get("accessConfig") or {}).get("authenticationMode", "")
    if mode == "CONFIG_MAP":
        more = "--access-config authenticationMode=API_AND_CONFIG_MAP"
        mend = f"aws eks update-cluster-config --name {subject.cluster} {more} --region {subject.region}"
        yield wrong("cluster", subject.cluster, "knows nobody by access entries, only by its ConfigMap aws-auth", mend)


def version(subject: Subject, found: tuple[int, int]) -> Finding:
    """Return whether the version of Kubernetes that answers is new enough."""
    text = ".".join(map(str, found))
    if found < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        mend = f"aws eks update-cluster-version --name {subject.cluster} --region {subject.region}"
        message = f"Kubernetes {text}: trainings need {oldest} or newer"
        return wrong("cluster", subject.cluster, message, f"{mend} --kubernetes-version {oldest}")
    return ok("cluster", subject.cluster, f"answers in {subject.region}, with Kubernetes {text}")


def not_reached(subject: Subject, error: Unreachable) -> Finding:
    """Return that a cluster does not answer here; whether launchers reach it, nobody knows from here."""
    query = "--query cluster.resourcesVpcConfig"
    look = f"aws eks describe-cluster --name {subject.cluster} --region {subject.region} {query}"
    return wrong("cluster", subject.cluster, f"is not reached from this machine: {error.message}", look)
