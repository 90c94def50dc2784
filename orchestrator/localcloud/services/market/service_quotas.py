"""Service Quotas in one Region: the quotas that SageMaker and EC2 keep to, as that service lists them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.vcpus import VcpuKey, all_keys
from orchestrator.localcloud.services.market.price_table import VCPUS, is_offered
from orchestrator.localcloud.services.quotas import QuotaKey, default_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.site import Site

Body = dict[str, Any]

_MOST = 100
_SERVICES = {"ec2": "Amazon Elastic Compute Cloud (Amazon EC2)", "sagemaker": "Amazon SageMaker"}
"""The services whose quotas are held to, by their codes."""
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
        return {"Services": [{"ServiceCode": code, "ServiceName": name} for code, name in _SERVICES.items()]}

    def list_service_quotas(self, body: Body) -> Body:
        return self._page(body, self._applied(body))

    def list_aws_default_service_quotas(self, body: Body) -> Body:
        return self._page(body, self._default(body))

    def get_service_quota(self, body: Body) -> Body:
        return self._find(body, self._applied(body))

    def get_aws_default_service_quota(self, body: Body) -> Body:
        return self._find(body, self._default(body))

    def _page(self, body: Body, everything: list[Body]) -> Body:
        """Return a page of all quotas."""
        token = body.get("NextToken") or "0"
        if not token.isdecimal():
            raise AwsError("InvalidPaginationTokenException", "Invalid NextToken")
        stop = int(token) + min(body.get("MaxResults") or _MOST, _MOST)
        answer: Body = {"Quotas": everything[int(token) : stop]}
        if stop < len(everything):
            answer["NextToken"] = str(stop)
        return answer

    def _find(self, body: Body, everything: list[Body]) -> Body:
        """Return the quota of the code that a request names, or raise the refusal of an unknown one."""
        for quota in everything:
            if quota["QuotaCode"] == body["QuotaCode"]:
                return {"Quota": quota}
        raise AwsError(
            "NoSuchResourceException", f"The request failed because the quota {body['QuotaCode']} is not known"
        )

    def _applied(self, body: Body) -> list[Body]:
        """Return the quotas of the service that a request names, as they are now."""
        quotas = self._site.quotas
        return self._quotas(body["ServiceCode"], quotas.limit, quotas.vcpus.limit)

    def _default(self, body: Body) -> list[Body]:
        """Return these quotas as AWS grants them."""
        return self._quotas(
            body["ServiceCode"], lambda key: default_limit(key.instance_type), lambda key: key.bucket.granted
        )

    def _quotas(
        self, service: str, of_type: Callable[[QuotaKey], int], of_vcpus: Callable[[VcpuKey], int]
    ) -> list[Body]:
        """Return the quotas of a service; `of_type` and `of_vcpus` say how much each allows."""
        if service == "fargate":
            return [_FARGATE]
        if service == "ec2":
            return [self._quota("ec2", key.code, key.name, of_vcpus(key)) for key in all_keys(self._region)]
        if service != "sagemaker":
            raise AwsError("NoSuchResourceException", f"the local cloud knows no quotas of {service}")
        types = [f"ml.{name}" for name in VCPUS if is_offered(name, self._region)]
        keys = [QuotaKey(self._region, name, spot) for name in types for spot in (False, True)]
        return [self._quota("sagemaker", _code(key), key.name, of_type(key)) for key in keys]

    def _quota(self, service: str, code: str, name: str, limit: int) -> Body:
        return {
            "ServiceCode": service,
            "ServiceName": _SERVICES[service],
            "QuotaArn": self._site.arn("servicequotas", self._region, f"{service}/{code}"),
            "QuotaCode": code,
            "QuotaName": name,
            "Value": float(limit),
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
            "QuotaAppliedAtLevel": "ACCOUNT",
        }


def _code(key: QuotaKey) -> str:
    """Return a quota's code, which is the same in every Region."""
    return "L-" + hashlib.sha256(key.name.encode()).hexdigest()[:8].upper()
