"""Prepares a Region at submit: looks for the cluster and what pods need there, and makes the template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.ecr import pin_image
from orchestrator.aws.account.identity import account_of_credentials
from orchestrator.errors import NotFound, SettingsError, SpecError
from orchestrator.platforms.bare_template import look_for_inputs, share
from orchestrator.platforms.eks.asked import read_asked
from orchestrator.platforms.eks.kube.api import ACCOUNTS, CLAIMS
from orchestrator.platforms.eks.kube.clusters import open_cluster
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.platforms.eks.asked import Asked, Settings
    from orchestrator.platforms.eks.kube.api import KubeApi

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
    look_for_inputs(shared, region, clients)
    _look(open_cluster(clients, region, cluster), namespace, service_account, asked)
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


def _look(api: KubeApi, namespace: str, service_account: str, asked: Asked) -> None:
    """Raise NotFound for a namespace, an account or a claim that is not in the cluster: pods would never begin."""
    needed = [(ACCOUNTS, service_account), *((CLAIMS, volume.claim) for volume in (asked.volumes or {}).values())]
    for kind, name in needed:
        try:
            api.get(kind, namespace, name)
        except NotFound as error:
            hint = f"make it in the namespace {namespace}, as docs/eks.md shows, or name another under platforms.eks"
            raise NotFound(error.message, where=error.where, hint=hint) from error
