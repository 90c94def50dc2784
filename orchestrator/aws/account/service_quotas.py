"""Service Quotas: how much of what an account may use in a Region."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients


class ServiceQuota(NamedTuple):
    """One quota of a service, by the name that AWS's console shows."""

    name: str
    value: float
    code: str | None
    """What a request to raise it calls it, with the service; None for one that AWS raises for nobody."""


def list_quotas(clients: Clients, region: str, service: str) -> Iterator[ServiceQuota]:
    """Yield the account's quotas of a service in a Region, as they are applied now."""
    asking = f"list the quotas of {service}"
    with aws_errors(asking, where=region), understood(asking, where=region):
        pages = clients.client("service-quotas", region).get_paginator("list_service_quotas")
        for page in pages.paginate(ServiceCode=service):
            for quota in page["Quotas"]:
                code = f"{service}/{quota['QuotaCode']}" if quota.get("Adjustable") else None
                yield ServiceQuota(str(quota["QuotaName"]), float(quota["Value"]), code)
