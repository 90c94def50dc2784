"""A struck call: what its caller sees instead of an answer, or after it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import RESET, Answer, AwsError, error

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.faults.faults import Fault, Faults
    from orchestrator.localcloud.http.call import Call

_THROTTLED = {
    "batch": AwsError("TooManyRequestsException", "Too Many Requests", 429),
    "ec2": AwsError("RequestLimitExceeded", "Request limit exceeded.", 503),
    "s3": AwsError("SlowDown", "Please reduce your request rate.", 503),
}
_ANY_THROTTLED = AwsError("ThrottlingException", "Rate exceeded")
_BROKEN = {
    "batch": AwsError("ServerException", "Internal server error", 500),
    "s3": AwsError("InternalError", "We encountered an internal error. Please try again.", 500),
}
_ANY_BROKEN = AwsError("InternalFailure", "The request processing has failed because of an unknown error", 500)


class CallFaults:
    """Stands before all services."""

    def __init__(self, faults: Faults, clock: Clock) -> None:
        self._faults = faults
        self._clock = clock
        self._remembered: dict[tuple[str, ...], tuple[float, Answer]] = {}
        self._lock = threading.Lock()

    def answer(self, call: Call, truly: Callable[[Call], Answer]) -> Answer:
        """What a caller is told. `truly` does what the call asks."""
        striking = self._faults.striking(call.service, call.operation, call.region)
        for fault in striking:
            if fault.kind == "slow":
                time.sleep(fault.seconds)
            elif (instead := self._instead(fault, call)) and not fault.after:
                return instead
        stale = next((fault for fault in striking if fault.kind == "stale"), None)
        answer = self._as_it_was(call, stale.seconds, truly) if stale else truly(call)
        lost = (self._instead(fault, call) for fault in striking if fault.after)
        return next((instead for instead in lost if instead), answer)

    def _instead(self, fault: Fault, call: Call) -> Answer | None:
        if fault.kind == "throttle":
            return error(call.service, _THROTTLED.get(call.service, _ANY_THROTTLED))
        if fault.kind == "error":
            return error(call.service, _BROKEN.get(call.service, _ANY_BROKEN))
        return RESET if fault.kind in ("reset", "down") else None

    def _as_it_was(self, call: Call, age: float, truly: Callable[[Call], Answer]) -> Answer:
        """The same question has the same answer until that is too old."""
        environ = call.environ
        where = (environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", ""))
        question = (call.service, call.region, call.operation, *where, call.body.decode("latin-1"))
        with self._lock:
            known = self._remembered.get(question)
        if known and self._clock.now() - known[0] < age:
            return known[1]
        answer = truly(call)
        with self._lock:
            self._remembered[question] = (self._clock.now(), answer)
        return answer
