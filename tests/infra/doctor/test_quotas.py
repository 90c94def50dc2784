"""A plan is held against the quotas that AWS tells now."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.infra.doctor import quotas
from orchestrator.infra.doctor.doctor import in_force
from orchestrator.infra.doctor.subject import Need, Subject
from orchestrator.wire.task import Quota
from tests.infra.doctor.account import ACCOUNT, REGION, SETTINGS


class LiveQuotas:
    """Service Quotas, with one quota of SageMaker's; or that may not be asked."""

    def __init__(self, value: float | None) -> None:
        self.value = value

    def client(self, service: str, _region: str) -> Any:
        assert service == "service-quotas"
        return self

    def get_paginator(self, _name: str) -> Any:
        return self

    def paginate(self, **_: Any) -> Any:
        if self.value is None:
            denied = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
            raise ClientError(denied, "ListServiceQuotas")  # type: ignore[arg-type]
        name = "ml.m5.xlarge for spot training job usage"
        return [{"Quotas": [{"QuotaName": name, "Value": self.value, "QuotaCode": "L-1", "Adjustable": True}]}]


@pytest.mark.parametrize(
    ("live", "state", "message"),
    [
        (10.0, "ok", "ml.m5.xlarge/spot: 10, and the plan takes 8"),
        (4.0, "wrong", "ml.m5.xlarge/spot: 4 now, and the plan takes 8: the catalog knows an older one"),
        (None, "warning", "sagemaker's were not looked at"),
    ],
)
def test_a_plan_is_held_against_quotas_as_aws_has_them_now(live: float | None, state: str, message: str) -> None:
    account: Any = LiveQuotas(live)
    need = Need(units={Quota("sagemaker", REGION, "ml.m5.xlarge/spot"): 8})
    (found,) = quotas.quotas(Subject(SETTINGS, account, in_force(SETTINGS, ACCOUNT), need))
    assert found.state == state
    assert message in found.message
    if state == "wrong":
        assert found.exit_code == 6
        raise_it = "aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-1"
        assert found.mend == f"{raise_it} --desired-value 8 --region {REGION}"


def test_a_quota_that_aws_tells_nothing_of_is_no_reason_to_stop() -> None:
    account: Any = LiveQuotas(4.0)
    need = Need(units={Quota("sagemaker", REGION, "ml.p5.48xlarge/spot"): 8})
    (found,) = quotas.quotas(Subject(SETTINGS, account, in_force(SETTINGS, ACCOUNT), need))
    assert (found.state, found.mend) == ("warning", "sweep catalog refresh")


def test_a_total_that_aws_does_not_tell_bounds_nothing() -> None:
    account: Any = LiveQuotas(4.0)
    need = Need(units={Quota("sagemaker", REGION, "*/spot"): 8})
    (found,) = quotas.quotas(Subject(SETTINGS, account, in_force(SETTINGS, ACCOUNT), need))
    assert (found.state, found.mend) == ("ok", "")
