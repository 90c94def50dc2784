"""Service Quotas in one Region: what SageMaker holds trainings to, as that service lists it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.market.table import VCPUS, offered
from orchestrator.localcloud.services.quotas import Line, default

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.site import Site

Body = dict[str, Any]

_MOST = 100


class ServiceQuotas:
    def __init__(self, site: Site, region: str) -> None:
        self._site = site
        self._region = region

    def list_services(self, _: Body) -> Body:
        return {"Services": [{"ServiceCode": "sagemaker", "ServiceName": "Amazon SageMaker"}]}

    def list_service_quotas(self, body: Body) -> Body:
        return self._listed(body, self._site.quotas.of)

    def list_aws_default_service_quotas(self, body: Body) -> Body:
        return self._listed(body, lambda line: default(line.instance_type))

    def get_service_quota(self, body: Body) -> Body:
        return self._one(body, self._site.quotas.of)

    def get_aws_default_service_quota(self, body: Body) -> Body:
        return self._one(body, lambda line: default(line.instance_type))

    def _listed(self, body: Body, value: Callable[[Line], int]) -> Body:
        everything = [self._quota(line, value(line)) for line in self._lines(body)]
        token = body.get("NextToken") or "0"
        if not token.isdecimal():
            raise AwsError("InvalidPaginationTokenException", "Invalid NextToken")
        stop = int(token) + min(body.get("MaxResults") or _MOST, _MOST)
        return {"Quotas": everything[int(token) : stop], **({"NextToken": str(stop)} if stop < len(everything) else {})}

    def _one(self, body: Body, value: Callable[[Line], int]) -> Body:
        for line in self._lines(body):
            if _code(line) == body["QuotaCode"]:
                return {"Quota": self._quota(line, value(line))}
        raise AwsError(
            "NoSuchResourceException", f"The request failed because the quota {body['QuotaCode']} is not known"
        )

    def _lines(self, body: Body) -> list[Line]:
        if body["ServiceCode"] != "sagemaker":
            raise AwsError("NoSuchResourceException", f"the local cloud knows no quotas of {body['ServiceCode']}")
        types = [f"ml.{name}" for name in VCPUS if offered(name, self._region)]
        return [Line(self._region, name, spot) for name in types for spot in (False, True)]

    def _quota(self, line: Line, value: int) -> Body:
        code = _code(line)
        return {
            "ServiceCode": "sagemaker",
            "ServiceName": "Amazon SageMaker",
            "QuotaArn": self._site.arn("servicequotas", self._region, f"sagemaker/{code}"),
            "QuotaCode": code,
            "QuotaName": line.name,
            "Value": float(value),
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
            "QuotaAppliedAtLevel": "ACCOUNT",
        }


def _code(line: Line) -> str:
    """The same in every Region, as AWS's are."""
    return "L-" + hashlib.sha256(line.name.encode()).hexdigest()[:8].upper()
