"""The server process: it makes everything once, in order, and puts it away in the opposite order."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud import names
from orchestrator.localcloud.clock import Clock
from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.faults.call_faults import CallFaults
from orchestrator.localcloud.faults.cloud_faults import CloudFaults
from orchestrator.localcloud.faults.faults import Faults
from orchestrator.localcloud.home import Home, Serving
from orchestrator.localcloud.http.gateway import Gateway
from orchestrator.localcloud.http.guard import Guard
from orchestrator.localcloud.http.overview import Overview
from orchestrator.localcloud.http.rates import Rates
from orchestrator.localcloud.http.web import Server
from orchestrator.localcloud.iam.authority import Authority, Facts
from orchestrator.localcloud.iam.identities import Callers
from orchestrator.localcloud.iam.service_roles import Bounded, Unbounded
from orchestrator.localcloud.iam.web_identities import WebIdentities
from orchestrator.localcloud.local_api import LocalApi
from orchestrator.localcloud.machines import prerequisites
from orchestrator.localcloud.machines.own_mounts import OwnMounts
from orchestrator.localcloud.machines.processes import Processes
from orchestrator.localcloud.machines.real_toolkit import RealToolkit
from orchestrator.localcloud.machines.tunnel import Tunnel
from orchestrator.localcloud.names import Access
from orchestrator.localcloud.provision import provision
from orchestrator.localcloud.services.batch.api import Batch
from orchestrator.localcloud.services.cloudformation.api import CloudFormation
from orchestrator.localcloud.services.cloudformation.caller import Caller
from orchestrator.localcloud.services.ec2.service import Compute
from orchestrator.localcloud.services.ecr import Registry
from orchestrator.localcloud.services.eks.api import Eks
from orchestrator.localcloud.services.eks.cluster import Around
from orchestrator.localcloud.services.eks.kubernetes.pods.images import Images
from orchestrator.localcloud.services.eks.tokens import Tokens
from orchestrator.localcloud.services.events import Events
from orchestrator.localcloud.services.logs import Logs
from orchestrator.localcloud.services.market.commitments import SavingsPlans
from orchestrator.localcloud.services.market.pricing import ENDPOINTS, Pricing
from orchestrator.localcloud.services.market.service_quotas import ServiceQuotas
from orchestrator.localcloud.services.moto import backends as moto_backends
from orchestrator.localcloud.services.moto.ec2 import role_of_profile
from orchestrator.localcloud.services.moto.identities import Identities
from orchestrator.localcloud.services.moto.images import Repositories
from orchestrator.localcloud.services.quotas import Quotas
from orchestrator.localcloud.services.resource_tags import ResourceTags
from orchestrator.localcloud.services.sagemaker.api import Trainings
from orchestrator.localcloud.services.sagemaker.lifecycle import Lifecycle
from orchestrator.localcloud.services.sagemaker.toolkit.imitated import ImitatedToolkit
from orchestrator.localcloud.services.schedules.job_starter import JobStarter
from orchestrator.localcloud.services.schedules.schedules import Schedules
from orchestrator.localcloud.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.iam.service_roles import ServiceRoles
    from orchestrator.localcloud.services.sagemaker.toolkit.starter import Starter

log = logging.getLogger(__name__)

_PASSED_ON = ("HOME", "LANG", "LC_ALL", "TZ", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
"""Variables of ours that every process gets."""
_PASSED_ON_PREFIX = "PIP_"
"""The beginning of further ones: trainings that install packages get them where this machine does."""


@dataclass(frozen=True)
class Options:
    """The choices of whoever starts the server."""

    home: Path
    port: int
    regions: list[str]
    vcpus: float
    """The size of each Region's compute environment: it limits how many launchers run at once."""
    trainings: int
    """The most trainings that run at once on this machine, in all Regions."""
    empty: bool = False
    """True for an account that has nothing yet, as AWS gives it."""
    iam: bool = False
    """True if callers are held to their policies."""
    toolkit: Path | None = None
    """The environment of AWS's training toolkit, if trainings are to be started by that."""


@dataclass(frozen=True)
class _Iam:
    """What holds callers to their policies."""

    authority: Authority
    roles: ServiceRoles
    tags: ResourceTags


def serve(options: Options, ready: Callable[[Serving], None], stop: threading.Event) -> None:
    """Serve until someone sets `stop`, and end all that was started. `ready` is called once the server answers.

    Raises LocalCloudError when another cloud serves this home, or when the port cannot be had.
    """
    home = Home(options.home)
    with home.hold():
        server = _listen(options.port)
        processes = Processes(home.folder, lost=lambda: _lost(stop))
        try:
            access = _new_access(server)
            iam = _iam(access) if options.iam else None
            site = _site(options, home, processes, server, access, iam)
            guard = Guard(access, moto_backends.secret_of)
            server.answer = _cloud(options, site, guard, access, iam)
            serving = Serving(
                pid=os.getpid(),
                endpoint=access.endpoint,
                regions=options.regions,
                empty=options.empty,
                trainings=site.starter.description,
                key_id=access.key_id,
                secret=access.secret,
                page=f"{access.endpoint}/?{guard.page_query}",
            )
            threading.Thread(target=server.serve_forever, args=(3600,), name="http", daemon=True).start()
            home.announce(serving)
            ready(serving)
            stop.wait()
        finally:
            processes.close()
            server.server_close()


def _iam(access: Access) -> _Iam:
    """Make what holds callers to their policies."""
    identities, tags = Identities(), ResourceTags()
    callers = Callers(moto_backends.ACCOUNT, access.key_id, identities)
    facts = Facts(tags.of, moto_backends.Objects().has, role_of_profile)
    authority = Authority(moto_backends.ACCOUNT, callers, identities, facts)
    return _Iam(authority, Bounded(authority, callers, identities), tags)


def _site(options: Options, home: Home, processes: Processes, server: Server, access: Access, iam: _Iam | None) -> Site:
    """Make what all services have in common."""
    clock, objects, scratch = Clock(), moto_backends.Objects(), home.scratch()
    environment = _environment(access, options.regions[0])
    mounts = OwnMounts.find(scratch)
    starter: Starter = ImitatedToolkit(environment, objects, mounts)
    if options.toolkit:
        tunnel = Tunnel(scratch / "tunnel", server)
        refusal = prerequisites.refusal(options.toolkit)
        mounts = OwnMounts(None, refusal, refusal) if refusal else mounts
        starter = RealToolkit(options.toolkit, environment, tunnel, refusal, mounts)
    return Site(
        account=moto_backends.ACCOUNT,
        work=home.work,
        scratch=scratch,
        clock=clock,
        processes=processes,
        logs=Logs(moto_backends.LogStreams(), clock),
        objects=objects,
        quotas=Quotas(),
        events=Events(moto_backends.Rules(), clock),
        starter=starter,
        environment=environment,
        roles=iam.roles if iam else Unbounded(),
    )


def _cloud(options: Options, site: Site, guard: Guard, access: Access, iam: _Iam | None) -> Gateway:
    """Make all services, fill them with what a fresh cloud has, and return the gateway that answers for them."""
    clock, objects, logs = site.clock, site.objects, site.logs
    lifecycle = Lifecycle(site, options.trainings)
    batch = {region: Batch(site, region) for region in options.regions}
    trainings = {region: Trainings(site, region, lifecycle) for region in options.regions}
    compute = Compute(site, options.regions)
    if iam:
        iam.tags.learn(batch, trainings, compute)
    if options.empty:
        for each in batch.values():
            each.scheduler.most_vcpus = options.vcpus
    else:
        provision(batch, objects, moto_backends.LogStreams(), options.vcpus)
    faults = Faults()
    call_faults, repositories = CallFaults(faults, clock), Repositories()
    callers = Callers(site.account, access.key_id, Identities())
    web = WebIdentities(site.account, clock, Identities(), iam.authority if iam else None)
    around = Around(site, Tokens(callers, guard.secret), Images(site.account, repositories), call_faults, web)
    clusters = {region: Eks(around, region, empty=options.empty) for region in options.regions}
    cloud_faults = CloudFaults(
        faults, clock, site.quotas, lifecycle, batch, trainings, clusters, compute.lifecycle, compute.capacity
    )
    overview = Overview(guard.endpoint, clock, faults, objects, batch, trainings, compute.lifecycle)
    return Gateway(
        guard=guard,
        services={
            "batch": batch,
            "cloudformation": {
                region: CloudFormation(site, region, Caller(access, site.account, region)) for region in options.regions
            },
            "eks": clusters,
            "sagemaker": trainings,
            "ec2": compute.regions,
            "pricing": dict.fromkeys(ENDPOINTS, Pricing()),
            "savingsplans": {"us-east-1": SavingsPlans()},
            "servicequotas": {region: ServiceQuotas(site, region) for region in options.regions},
        },
        moto=moto_backends.application(),
        logs=logs,
        objects=objects,
        schedules=Schedules(moto_backends.ScheduleStore(), clock, batch, JobStarter(site.roles, site.account)),
        registry=Registry(repositories),
        local_api=LocalApi(clock, faults, cloud_faults, overview, iam.authority if iam else None),
        call_faults=call_faults,
        rates=Rates(),
        web_identities=web,
        authority=iam.authority if iam else None,
    )


def _new_access(server: Server) -> Access:
    """Return a server's address with a key that nobody has had before."""
    return Access(f"http://127.0.0.1:{server.port}", f"LOCAL{secrets.token_hex(8).upper()}", secrets.token_urlsafe(30))


def _listen(port: int) -> Server:
    try:
        return Server(port)
    except OSError as error:
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be opened: {error.strerror}"
        raise LocalCloudError(f"port {port} {reason}: choose another with --port, or 0 for any free one") from error


def _environment(access: Access, region: str) -> dict[str, str]:
    """Return the variables of every process: few of ours, so that a job sees what a container would."""
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    passed = {
        name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIX)
    }
    return {**passed, "PATH": programs, **names.aws_variables(access, region)}


def _lost(stop: threading.Event) -> None:
    """End the server: without its keeper, nothing runs any more."""
    log.error("the keeper of all processes is gone: the local cloud ends")
    stop.set()
    signal.raise_signal(signal.SIGTERM)
