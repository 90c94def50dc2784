"""What a caller sees whose call a fault hits: another answer, none, or the true one too late."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import RESET, Answer, AwsError, error, throttled
from orchestrator.localcloud.iam.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.faults.faults import Fault, Faults
    from orchestrator.localcloud.http.call import Call

_BROKEN = {
    "batch": AwsError("ServerException", "Internal server error", 500),
    "s3": AwsError("InternalError", "We encountered an internal error. Please try again.", 500),
}
_ANY_BROKEN = AwsError("InternalFailure", "The request processing has failed because of an unknown error", 500)


def _denial(call: Call) -> AwsError:
    """Return the refusal of a call that its caller may not make."""
    user, action = "arn:aws:iam::123456789012:user/denied", f"{call.service}:{call.operation}"
    if call.service == "kubernetes":
        return AwsError("Forbidden", f'forbidden: User "{user}" cannot {call.operation}', 403)
    why = f"because no identity-based policy allows the {action} action"
    return refuse(call.service, user, action, "*", why)


class CallFaults:
    """The faults of calls. It stands between the gateway and all services."""

    def __init__(self, faults: Faults, clock: Clock) -> None:
        self._faults = faults
        self._clock = clock
        self._remembered: dict[tuple[str, ...], tuple[float, Answer]] = {}
        self._lock = threading.Lock()

    def answer(self, call: Call, true_answer: Callable[[Call], Answer]) -> Answer:
        """Return what the caller sees. `true_answer` does what the call asks, and returns the true answer."""
        faults = self._faults.that_hit(call.service, call.operation, call.region)
        for fault in faults:
            if fault.kind == "slow":
                time.sleep(fault.seconds)
                continue
            instead = self._instead(fault, call)
            if instead and not fault.after:
                return instead
        stale = next((fault for fault in faults if fault.kind == "stale"), None)
        answer = self._remembered_answer(call, stale.seconds, true_answer) if stale else true_answer(call)
        lost = (self._instead(fault, call) for fault in faults if fault.after)
        return next((instead for instead in lost if instead), answer)

    def _instead(self, fault: Fault, call: Call) -> Answer | None:
        """Return what a fault puts in the answer's place; None when it leaves the answer."""
        if fault.kind == "throttle":
            return error(call.service, throttled(call.service))
        if fault.kind == "deny":
            return error(call.service, _denial(call))
        if fault.kind == "error":
            return error(call.service, _BROKEN.get(call.service, _ANY_BROKEN))
        return RESET if fault.kind in ("reset", "down") else None

    def _remembered_answer(self, call: Call, age: float, true_answer: Callable[[Call], Answer]) -> Answer:
        """Return the answer that the same question had, unless that is older than `age`: then the true one."""
        environ = call.environ
        where = (environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", ""))
        question = (call.service, call.region, call.operation, *where, call.body.decode("latin-1"))
        with self._lock:
            known = self._remembered.get(question)
        if known and self._clock.now() - known[0] < age:
            return known[1]
        answer = true_answer(call)
        with self._lock:
            self._remembered[question] = (self._clock.now(), answer)
        return answer
