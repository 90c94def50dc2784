"""AWS's rates, with a source or assumed: the calls of a second may come at once, and one too many is refused."""

from __future__ import annotations

import pytest

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.http.call import Call
from orchestrator.localcloud.http.rates import ASSUMED, RATES, Rates


class Calls:
    """Calls to a Region at moments that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0
        self.rates = Rates(lambda: self.now)

    def taken(self, service: str, operation: str, times: int = 1, region: str = "us-east-1") -> int:
        """Return how many of so many calls at once were taken."""
        found = 0
        for _ in range(times):
            try:
                self.rates.check(Call(service, region, operation, b"", {}))
                found += 1
            except AwsError as error:
                self.error = error
        return found


def test_trainings_are_listed_twice_a_second_in_each_region() -> None:
    calls = Calls()
    assert calls.taken("sagemaker", "ListTrainingJobs", 5) == 2
    assert (calls.error.code, calls.error.message, calls.error.status) == ("ThrottlingException", "Rate exceeded", 400)
    assert calls.taken("sagemaker", "ListTrainingJobs", 5, "eu-west-1") == 2
    calls.now += 0.5
    assert calls.taken("sagemaker", "ListTrainingJobs", 5) == 1
    calls.now += 60
    assert calls.taken("sagemaker", "ListTrainingJobs", 5) == 2


def test_batch_takes_fifty_of_each_operation_in_a_second() -> None:
    calls = Calls()
    assert calls.taken("batch", "SubmitJob", 60) == 50
    assert (calls.error.code, calls.error.status) == ("TooManyRequestsException", 429)
    assert calls.taken("batch", "DescribeJobs", 60) == 50
    calls.now += 1
    assert calls.taken("batch", "SubmitJob", 60) == 50


def test_ec2_refills_its_buckets_slower_than_they_are_emptied() -> None:
    calls = Calls()
    assert calls.taken("ec2", "RunInstances", 20) == 5
    assert (calls.error.code, calls.error.status) == ("RequestLimitExceeded", 503)
    calls.now += 1
    assert calls.taken("ec2", "RunInstances", 20) == 2
    assert calls.taken("ec2", "DescribeInstances", 200) == 100
    assert calls.taken("ec2", "DescribeVolumes", 200) == 100
    calls.now += 1
    assert calls.taken("ec2", "DescribeInstances", 200) == 20
    assert calls.taken("ec2", "CreateSecurityGroup", 200) == 50


def test_who_goes_on_calling_is_served_at_the_rate() -> None:
    calls = Calls()
    taken = 0
    for _ in range(100):
        calls.now += 0.1
        taken += calls.taken("sagemaker", "ListTrainingJobs")
    assert 20 <= taken <= 22


@pytest.mark.parametrize(("operation", "rate"), [("CreateTrainingJob", 10), ("DescribeTrainingJob", 50)])
def test_a_rate_without_a_source_is_an_assumption_that_holds(operation: str, rate: int) -> None:
    calls = Calls()
    assert ("sagemaker", operation) in ASSUMED
    assert ("sagemaker", operation) not in RATES
    assert calls.taken("sagemaker", operation, 500) == rate
    assert calls.error.code == "ThrottlingException"


def test_an_operation_without_a_rate_is_always_taken() -> None:
    assert Calls().taken("sagemaker", "StopTrainingJob", 500) == 500
