"""Are the namespace, the service account, the queue and the volumes there that trainings need?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import NotFound
from orchestrator.platforms.account.finding import ok, warning, wrong
from orchestrator.platforms.eks.kube.api import ACCOUNTS, CLAIMS, NAMESPACES
from orchestrator.platforms.eks.kube.queues import find_queue, why_inactive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.eks.account.subject import Subject
    from orchestrator.platforms.eks.kube.api import KubeApi


def namespace(subject: Subject, api: KubeApi) -> Iterator[Finding]:
    """Yield whether the namespace is there."""
    try:
        phase = api.get(NAMESPACES, "", subject.namespace).body.get("status", {}).get("phase", "Active")
    except NotFound:
        mend = subject.kubectl(f"create namespace {subject.namespace}")
        yield wrong("namespace", subject.inside, "not there", mend)
        return
    if phase == "Active":
        yield ok("namespace", subject.inside, "there")
    else:
        look = subject.kubectl(f"describe namespace {subject.namespace}")
        yield wrong("namespace", subject.inside, f"is {phase}: nothing can be made in it", look)


def account(subject: Subject, api: KubeApi) -> Iterator[Finding]:
    """Yield whether the service account of pods is there."""
    where = f"{subject.inside}/{subject.account}"
    try:
        api.get(ACCOUNTS, subject.namespace, subject.account)
    except NotFound:
        mend = subject.kubectl(f"create serviceaccount {subject.account} --namespace {subject.namespace}")
        yield wrong("service account", where, "not there: no pod can be made", mend)
        return
    yield ok("service account", where, "there")


def queue(subject: Subject, api: KubeApi) -> Iterator[Finding]:
    """Yield whether Kueue has the queue that Jobs are to wait in, if they are."""
    name = subject.asked.queue
    if not name:
        return
    where = f"{subject.inside}/{name}"
    try:
        body = find_queue(api, subject.namespace, name)
    except NotFound as error:
        look = subject.kubectl(f"get localqueues --namespace {subject.namespace}")
        yield wrong("queue", where, f"{error.message}: Jobs would wait for ever", look)
        return
    if stopped := why_inactive(body):
        look = subject.kubectl(f"describe localqueue {name} --namespace {subject.namespace}")
        yield wrong("queue", where, f"lets nothing begin: {stopped}", look)
    else:
        yield ok("queue", where, "there, in Kueue")


def volumes(subject: Subject, api: KubeApi) -> Iterator[Finding]:
    """Yield for each volume whether its claim is there, and has a volume."""
    for claim in sorted({volume.claim for volume in (subject.asked.volumes or {}).values()}):
        where = f"{subject.inside}/{claim}"
        try:
            phase = (api.get(CLAIMS, subject.namespace, claim).body.get("status") or {}).get("phase", "")
        except NotFound:
            look = subject.kubectl(f"get persistentvolumeclaims --namespace {subject.namespace}")
            yield wrong("volume", where, "there is no such PersistentVolumeClaim: pods would not begin", look)
            continue
        look = subject.kubectl(f"describe persistentvolumeclaim {claim} --namespace {subject.namespace}")
        if phase == "Lost":
            yield wrong("volume", where, "its volume is lost: pods would not begin", look)
        elif phase == "Pending":
            yield warning("volume", where, "has no volume yet: it may get one when the first pod wants it", look)
        else:
            yield ok("volume", where, "there")
