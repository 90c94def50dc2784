"""Looks at all that trainings need of EKS in one Region. Nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import AccessDenied, NotFound, Unreachable
from orchestrator.platforms.account.finding import WRONG, carefully, warning, wrong
from orchestrator.platforms.eks.account import access, cluster, namespace, pod_role, room
from orchestrator.platforms.eks.account.subject import Subject
from orchestrator.platforms.eks.asked import KEY, read_asked, read_settings
from orchestrator.platforms.eks.kube.clusters import describe_cluster, open_described
from orchestrator.platforms.eks.stage import ACCOUNT, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.account.wanted import Wanted


def check(clients: Clients, wanted: Wanted) -> Iterator[Finding]:
    """Yield how each thing stands that trainings in a Region need of EKS, the cluster first."""
    settings = read_settings(wanted.settings)
    name = settings.cluster_in(wanted.region)
    if not name:
        if not settings.cluster:
            mend = f'write `cluster = "NAME"` under [platforms.{KEY}] in sweep.toml'
            yield warning("cluster", wanted.region, "none is named: nothing is planned on EKS", mend)
        return
    try:
        described = describe_cluster(clients, wanted.region, name)
    except NotFound:
        look = f"aws eks list-clusters --region {wanted.region}"
        yield wrong("cluster", name, f"not there, in {wanted.region}", look)
        return
    asked = read_asked(wanted.sweep, settings) if wanted.sweep else settings
    subject = Subject(
        clients=clients,
        wanted=wanted,
        settings=settings,
        asked=asked,
        described=described,
        namespace=asked.namespace or NAMESPACE,
        account=asked.service_account or ACCOUNT,
    )
    yield from cluster.state(subject)
    if described.get("status") == "ACTIVE":
        yield from carefully("access", name, access.launchers(subject))
        yield from _inside(subject)


def _inside(subject: Subject) -> Iterator[Finding]:
    """Yield how things stand that only the cluster itself can tell."""
    api = open_described(subject.clients, subject.region, subject.described)
    try:
        version = api.version()
    except AccessDenied:
        yield access.not_let_in(subject)
        yield from carefully("pod role", subject.inside, pod_role.pod_role(subject, None))
        return
    except Unreachable as error:
        yield cluster.not_reached(subject, error)
        return
    yield cluster.version(subject, version)
    yield from carefully("access", subject.inside, access.ours(subject, api))
    for found in carefully("namespace", subject.inside, namespace.namespace(subject, api)):
        yield found
        if found.state == WRONG:
            return
    yield from carefully("service account", subject.inside, namespace.account(subject, api))
    yield from carefully("pod role", subject.inside, pod_role.pod_role(subject, api))
    yield from carefully("queue", subject.inside, namespace.queue(subject, api))
    yield from carefully("volume", subject.inside, namespace.volumes(subject, api))
    yield from carefully("quota", subject.inside, room.quotas(subject, api))
    yield from carefully("nodes", subject.cluster, room.nodes(subject, api))
