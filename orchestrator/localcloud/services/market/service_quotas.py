"""Service Quotas in one Region: the quotas that SageMaker keeps to, as that service lists them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.market.price_table import VCPUS, is_offered
from orchestrator.localcloud.services.quotas import QuotaKey, default_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.site import Site

Body = dict[str, Any]

_MOST = 100
_FARGATE = {
    "ServiceCode": "fargate",
    "ServiceName": "AWS Fargate",
    "QuotaCode": "L-3032A538",
    "QuotaName": "Fargate On-Demand vCPU resource count",
    "Value": 1000.0,
    "Unit": "None",
    "Adjustable": True,
    "GlobalQuota": False,
}
"""The quota of vCPUs that launchers count under. Nothing here is held to it: see `--vcpus`."""


class ServiceQuotas:
    """Service Quotas in one Region. Each operation is a method: it has boto3's name, and takes a request."""

    def __init__(self, site: Site, region: str) -> None:
        self._site = site
        self._region = region

    def list_services(self, _: Body) -> Body:
        return {"Services": [{"ServiceCode": "sagemaker", "ServiceName": "Amazon SageMaker"}]}

    def list_service_quotas(self, body: Body) -> Body:
        return self._page(body, self._site.quotas.limit)

    def list_aws_default_service_quotas(self, body: Body) -> Body:
        return self._page(body, lambda key: default_limit(key.instance_type))

    def get_service_quota(self, body: Body) -> Body:
        return self._find(body, self._site.quotas.limit)

    def get_aws_default_service_quota(self, body: Body) -> Body:
        return self._find(body, lambda key: default_limit(key.instance_type))

    def _page(self, body: Body, limit: Callable[[QuotaKey], int]) -> Body:
        """Return a page of all quotas; `limit` says how many instances each allows."""
        everything = [self._quota(key, limit(key)) for key in self._keys(body)]
        if body["ServiceCode"] == "fargate":
            everything = [_FARGATE]
        token = body.get("NextToken") or "0"
        if not token.isdecimal():
            raise AwsError("InvalidPaginationTokenException", "Invalid NextToken")
        stop = int(token) + min(body.get("MaxResults") or _MOST, _MOST)
        answer: Body = {"Quotas": everything[int(token) : stop]}
        if stop < len(everything):
            answer["NextToken"] = str(stop)
        return answer

    def _find(self, body: Body, limit: Callable[[QuotaKey], int]) -> Body:
        """Return the quota of the code that a request names, or raise the refusal of an unknown one."""
        for key in self._keys(body):
            if _code(key) == body["QuotaCode"]:
                return {"Quota": self._quota(key, limit(key))}
        raise AwsError(
            "NoSuchResourceException", f"The request failed because the quota {body['QuotaCode']} is not known"
        )

    def _keys(self, body: Body) -> list[QuotaKey]:
        """Return what there are quotas for, in the service that a request names."""
        if body["ServiceCode"] == "fargate":
            return []
        if body["ServiceCode"] != "sagemaker":
            raise AwsError("NoSuchResourceException", f"the local cloud knows no quotas of {body['ServiceCode']}")
        types = [f"ml.{name}" for name in VCPUS if is_offered(name, self._region)]
        return [QuotaKey(self._region, name, spot) for name in types for spot in (False, True)]

    def _quota(self, key: QuotaKey, limit: int) -> Body:
        code = _code(key)
        return {
            "ServiceCode": "sagemaker",
            "ServiceName": "Amazon SageMaker",
            "QuotaArn": self._site.arn("servicequotas", self._region, f"sagemaker/{code}"),
            "QuotaCode": code,
            "QuotaName": key.name,
            "Value": float(limit),
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
            "QuotaAppliedAtLevel": "ACCOUNT",
        }


def _code(key: QuotaKey) -> str:
    """Return a quota's code, which is the same in every Region."""
    return "L-" + hashlib.sha256(key.name.encode()).hexdigest()[:8].upper()
