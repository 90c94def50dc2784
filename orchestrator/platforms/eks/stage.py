"""Prepares a Region at submit: looks for the cluster and what pods need there, and makes the template."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.aws.account.ecr import pin_image
from orchestrator.aws.account.identity import account_of_credentials
from orchestrator.errors import AccessDenied, NotFound, SettingsError, SpecError
from orchestrator.platforms.bare.template import look_for_inputs, share
from orchestrator.platforms.eks.asked import KEY, read_asked
from orchestrator.platforms.eks.kube.api import ACCOUNTS, CLAIMS, NAMESPACES
from orchestrator.platforms.eks.kube.clusters import open_cluster
from orchestrator.platforms.eks.kube.queues import find_queue
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.platforms.eks.asked import Settings
    from orchestrator.platforms.eks.kube.api import KubeApi
    from orchestrator.spec.sweep import Sweep

log = logging.getLogger(__name__)

NAMESPACE = "sweep"
ACCOUNT = "sweep-training"
"""What pods run in, and as whom, unless somebody says otherwise."""


def stage(staging: Staging, usual: Settings, clients: Clients) -> Template:
    """Return the Region's template, with our own image by its digest.

    Raise SettingsError when the Region has no cluster, NotFound when something is not there that pods need.
    """
    train, region = staging.sweep.train, staging.region
    asked = read_asked(staging.sweep, usual)
    cluster = usual.cluster_in(region)
    if not cluster:
        hint = 'write `cluster = "NAME"` there'
        raise SettingsError(f"no cluster in {region}", where="platforms.eks", hint=hint)
    if train.image is None:
        raise SpecError("no image", where="train", hint="name one that has Python 3 under train.image")
    account = account_of_credentials(clients, region)
    image = train.image.replace("{account}", account).replace("{region}", region)
    namespace, service_account = asked.namespace or NAMESPACE, asked.service_account or ACCOUNT
    shared = share(staging, account)
    look_for_inputs(shared, staging, clients)
    _look(_open(clients, region, cluster), namespace, service_account, staging, usual)
    return Template(
        platform="eks",
        region=region,
        run=staging.run,
        owner=staging.owner,
        body={
            **shared,
            "cluster": cluster,
            "namespace": namespace,
            "service_account": service_account,
            "image": pin_image(image, account, clients),
            "queue": asked.queue or "",
            "node_selector": asked.node_selector or {},
            "tolerations": [one.model_dump(exclude_none=True) for one in asked.tolerations or ()],
            "volumes": {name: volume.model_dump() for name, volume in (asked.volumes or {}).items()},
            "shm_gb": asked.shm_gb or 0,
            "efa": asked.efa or 0,
            "least": asked.elastic.min if asked.elastic else 0,
        },
        output=staging.output,
        checkpoints=train.checkpoints is not None,
        poll_s=staging.poll_s,
        metrics=dict(train.metrics),
        tags=dict(staging.sweep.tags),
    )


def _open(clients: Clients, region: str, cluster: str) -> KubeApi:
    """Return the cluster's API. Raise NotFound where the account has no such cluster, with the key that names it."""
    try:
        return open_cluster(clients, region, cluster)
    except NotFound as error:
        message = f"there is no cluster {cluster} in {region}"
        hint = f"`aws eks list-clusters --region {region}` shows those that are there"
        raise NotFound(message, where=f"platforms.{KEY}.cluster of the settings", hint=hint) from error


@dataclass(frozen=True)
class _Needed:
    """Something that has to be in a cluster before a pod can begin there."""

    said_by: tuple[str, ...]
    """The key that names it, under `platforms.eks`."""
    what: str
    look: Callable[[], object]
    """Raises NotFound when it is not there."""
    hint: str
    may_be_hidden: bool = False
    """Whoever makes Jobs may not always look at it."""


def _look(api: KubeApi, namespace: str, service_account: str, staging: Staging, usual: Settings) -> None:
    """Raise NotFound for a namespace, an account, a claim or a queue that is not there: pods would never begin."""
    asked = read_asked(staging.sweep, usual)
    kubectl = f"kubectl --namespace {namespace}"
    needed = [
        _Needed(
            ("namespace",),
            f"namespace {namespace}",
            lambda: api.get(NAMESPACES, "", namespace),
            f"`kubectl create namespace {namespace}` makes it; or name another",
            may_be_hidden=True,
        ),
        _Needed(
            ("service_account",),
            f"service account {service_account} in the namespace {namespace}",
            lambda: api.get(ACCOUNTS, namespace, service_account),
            f"`{kubectl} create serviceaccount {service_account}` makes it; or name another",
        ),
    ]
    for name, volume in (asked.volumes or {}).items():
        needed.append(
            _Needed(
                ("volumes", name, "claim"),
                f"PersistentVolumeClaim {volume.claim} in the namespace {namespace}",
                partial(api.get, CLAIMS, namespace, volume.claim),
                f"`{kubectl} get persistentvolumeclaims` shows those that are there",
            )
        )
    if queue := asked.queue:
        needed.append(
            _Needed(
                ("queue",),
                f"LocalQueue {queue} of Kueue's in the namespace {namespace}",
                lambda: find_queue(api, namespace, queue),
                f"`{kubectl} get localqueues` shows those that are there; without `queue`, Jobs begin at once",
                may_be_hidden=True,
            )
        )
    where = f"of the cluster {api.cluster} in {api.region}"
    for one in needed:
        try:
            one.look()
        except NotFound as error:
            said = _where(one.said_by, staging.sweep, usual)
            raise NotFound(f"there is no {one.what} {where}", where=said, hint=one.hint) from error
        except AccessDenied:
            if not one.may_be_hidden:
                raise
            log.warning("whether there is a %s %s is not known: looking is not granted to us", one.what, where)


def _where(said_by: tuple[str, ...], sweep: Sweep, usual: Settings) -> str:
    """Return which key names something: that of the sweep, unless the settings alone have it."""
    key = ".".join(("platforms", KEY, *said_by))
    is_usual = said_by[0] not in sweep.platforms.get(KEY, {}) and getattr(usual, said_by[0]) is not None
    return f"{key} of the settings" if is_usual else key
