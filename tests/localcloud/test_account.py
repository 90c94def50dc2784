"""A real account has what the suite needs; without one this test is skipped, and says how to name one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud import account

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.skipif(not account.IS_REAL, reason=account.HOW)
def test_the_real_account_has_what_the_suite_needs(client: Callable[..., Any]) -> None:
    assert [name for name in account.NEEDED if name not in os.environ] == []
    (queue,) = client("batch").describe_job_queues(jobQueues=[os.environ["SWEEP_QUEUE"]])["jobQueues"]
    assert (queue["state"], queue["status"]) == ("ENABLED", "VALID")
    client("s3").head_bucket(Bucket=os.environ["SWEEP_REGION_BUCKET"].format(region="us-east-1"))
