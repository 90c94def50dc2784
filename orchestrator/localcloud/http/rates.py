"""AWS's rates: how many calls a second it takes of an account in a Region, as far as it is known.

The rest is refused with AWS's own error, which its SDKs try again after a while. Where AWS publishes nothing, a rate is
an assumption, and is called one: it is more than our launchers need, and less than no limit at all.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import throttled

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.http.call import Call

EVERY = "*"
"""The operation that stands for each operation of a service by itself."""
_LOOKS = ("Describe", "Get")
"""The beginnings of operations that change nothing. An asterisk after one stands for each of them by itself."""


@dataclass(frozen=True)
class Rate:
    """A number of calls a second, and how many of them may come at once."""

    per_second: float
    at_once: float

    @classmethod
    def even(cls, per_second: float) -> Rate:
        """Return the rate of what takes at once what it takes in a second."""
        return cls(per_second, per_second)


RATES = {
    ("sagemaker", "ListTrainingJobs"): Rate.even(2.0),
    ("batch", EVERY): Rate.even(50.0),
    ("ec2", "RunInstances"): Rate(2.0, 5.0),
    ("ec2", "TerminateInstances"): Rate(5.0, 100.0),
    ("ec2", "CreateTags"): Rate(10.0, 100.0),
    ("ec2", "DeleteTags"): Rate(10.0, 100.0),
    ("ec2", "Describe*"): Rate(20.0, 100.0),
    ("ec2", "Get*"): Rate(20.0, 100.0),
    ("ec2", EVERY): Rate(5.0, 50.0),
}
"""Calls a second. ListTrainingJobs: the quota of that name in Service Quotas, not adjustable, as it is told in
github.com/aws-solutions/deepracer-on-aws/issues/87. Batch: repost.aws/knowledge-center/aws-batch-requests-error, and
SubmitJob in docs.aws.amazon.com/batch/latest/userguide/service_limits.html. EC2: the token buckets of
docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html, without those of resources."""
ASSUMED = {
    ("sagemaker", "CreateTrainingJob"): Rate.even(10.0),
    ("sagemaker", "DescribeTrainingJob"): Rate.even(50.0),
}
"""Calls a second for which there is no source. Only that there is some limit is known: AWS answers "Rate exceeded"."""
_ALL = {**ASSUMED, **RATES}


class Rates:
    """Counts calls. What a second allows may come at once, and more of it comes back as time goes by."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._left: dict[tuple[str, ...], tuple[float, float]] = {}
        """The calls that were left of each operation in a Region, and when."""
        self._lock = threading.Lock()

    def check(self, call: Call) -> None:
        """Count a call. Raise AWS's error when there were too many."""
        rate = _rate_of(call)
        if rate is None:
            return
        counted = (call.service, call.region, call.operation)
        with self._lock:
            now = self._now()
            before, since = self._left.get(counted, (rate.at_once, now))
            left = min(rate.at_once, before + (now - since) * rate.per_second)
            self._left[counted] = (max(left - 1, 0.0) if left >= 1 else left, now)
        if left < 1:
            raise throttled(call.service)


def _rate_of(call: Call) -> Rate | None:
    """Return the rate of a call: that of its operation, of those that look, or of each of its service."""
    looks = [f"{word}{EVERY}" for word in _LOOKS if call.operation.startswith(word)]
    names = (call.operation, *looks, EVERY)
    return next((_ALL[call.service, name] for name in names if (call.service, name) in _ALL), None)
