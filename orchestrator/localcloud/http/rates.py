"""AWS's rates: how many calls a second it takes of an account in a Region, as far as it is known.

The rest is refused with AWS's own error, which its SDKs try again after a while. Where AWS publishes nothing, a rate is
an assumption, and is called one: it is more than our launchers need, and less than no limit at all.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import throttled

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.http.call import Call

EVERY = "*"
"""The operation that stands for each operation of a service by itself."""
RATES = {
    ("sagemaker", "ListTrainingJobs"): 2.0,
    ("batch", EVERY): 50.0,
}
"""Calls a second. ListTrainingJobs: the quota of that name in Service Quotas, not adjustable, as it is told in
github.com/aws-solutions/deepracer-on-aws/issues/87. Batch: repost.aws/knowledge-center/aws-batch-requests-error, and
SubmitJob in docs.aws.amazon.com/batch/latest/userguide/service_limits.html."""
ASSUMED = {
    ("sagemaker", "CreateTrainingJob"): 10.0,
    ("sagemaker", "DescribeTrainingJob"): 50.0,
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
        rate = _ALL.get((call.service, call.operation)) or _ALL.get((call.service, EVERY))
        if rate is None:
            return
        counted = (call.service, call.region, call.operation)
        with self._lock:
            now = self._now()
            before, since = self._left.get(counted, (rate, now))
            left = min(rate, before + (now - since) * rate)
            self._left[counted] = (max(left - 1, 0.0) if left >= 1 else left, now)
        if left < 1:
            raise throttled(call.service)
