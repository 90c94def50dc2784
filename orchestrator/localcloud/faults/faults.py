"""What is to go wrong, and which calls it hits. The same seed hits the same calls.

A seed decides of the n-th call that a fault concerns whether it is hit, whatever else goes on. So a failure can be
replayed.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from dataclasses import asdict, dataclass, field, fields
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.faults.known_calls import check_calls

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = {
    "throttle": "calls are refused, as when there are too many",
    "deny": "calls are refused, as when a permission is missing",
    "error": "calls fail with 500: before their effect, or --after it",
    "slow": "calls are answered after --seconds",
    "reset": "connections break: before a call's effect, or --after it",
    "stale": "a call is answered as it was up to --seconds ago",
    "down": "a Region answers nobody",
}
"""Faults that hit calls: `call_faults.py` changes what the caller sees."""
EVENTS = {
    "capacity": "a Region has no instances for --seconds",
    "quota": "a Region's quota for an instance type is --value",
    "reclaim": "a spot training's instances, a spot instance, a Batch job's host, or a spot node, are taken away",
    "rebalance": "a spot instance is recommended to be moved",
    "crash": "a training's instances fail: an InternalServerError; or an instance's host, or a node, is lost",
    "kill": "a training's, an instance's, a Batch job's or a pod's processes are killed",
    "evict": "a pod is evicted, as its node is short of memory",
    "forget": "an EKS cluster's API does not know a field, and drops it without a word",
    "admission": "an EKS cluster's admission webhook denies each new Job",
}
"""Faults that befall the cloud itself: `cloud_faults.py` tells the services."""
KINDS = {**CALLS, **EVENTS}
DISRUPTIONS = ("reclaim", "rebalance", "crash", "kill", "evict")
"""Faults that befall something once."""


@dataclass(frozen=True)
class Fault:
    """One thing that is to go wrong, as a user asks for it."""

    kind: str
    what: str = "*"
    """The calls, as `service:Operation` with an asterisk for any; for events, a training's name, a job's or an
    instance's id, an instance's tag `Name`, a field to forget, an admission webhook's words."""
    region: str = "*"
    percent: float = 100.0
    """The share of calls that are hit."""
    seed: int = 0
    """A number that decides which calls are hit."""
    seconds: float = 0.0
    """The length of a delay, the age of a stale answer, the time without capacity, or that from a spot instance's
    notice to its end, which is two minutes unless it is said."""
    after: bool = False
    """True when the call's work is done, and only its answer is lost."""
    times: int | None = None
    """The most calls that are hit."""
    lasts: float | None = None
    """Seconds, on the cloud's clock, until it ends; None when it lasts until it is taken back."""
    delay: float = 0.0
    """Seconds, on the cloud's clock, until it begins."""
    instance_type: str | None = None
    """The instance type without capacity, or whose quota changes; None is any. SageMaker's begin with ml."""
    zone: str | None = None
    """The availability zone of EC2's without capacity; None is any."""
    purchase: str | None = None
    """The purchase without capacity, or whose quota changes: spot or on_demand; None is both."""
    value: int = 0
    """The new limit of a quota: instances of SageMaker's, or vCPUs of an EC2 family."""

    @classmethod
    def read(cls, body: dict[str, Any]) -> Fault:
        """Return the fault that a request asks for; raise ValueError, which says what is wrong with the request."""
        known = {each.name for each in fields(cls)}
        if unknown := set(body) - known:
            raise ValueError(f"a fault has no {', '.join(sorted(unknown))}: it has {', '.join(sorted(known))}")
        fault = cls(**body)
        if fault.kind not in KINDS:
            raise ValueError(f"there is no fault {fault.kind}: there are {', '.join(KINDS)}")
        if fault.kind in ("down", "capacity", "quota", "forget", "admission") and fault.region == "*":
            raise ValueError(f"{fault.kind} needs a region")
        if fault.kind == "quota" and fault.instance_type is None:
            raise ValueError("quota needs an instance_type")
        if fault.kind in ("slow", "stale", "capacity") and fault.seconds <= 0:
            raise ValueError(f"{fault.kind} needs seconds")
        if fault.kind in DISRUPTIONS and fault.what == "*":
            raise ValueError(
                f"{fault.kind} needs the name of a training, a pod or a node, or the id of a job or instance"
            )
        if fault.kind == "forget" and fault.what == "*":
            raise ValueError("forget needs the path of a field, such as spec.podFailurePolicy")
        if fault.kind in CALLS:
            check_calls(fault.what)
        if fault.purchase not in (None, "spot", "on_demand"):
            raise ValueError(f"purchase is spot or on_demand, not {fault.purchase}")
        return fault

    @property
    def spot(self) -> bool | None:
        """True when only spot is concerned, False when only on demand is, None when both are."""
        return None if self.purchase is None else self.purchase == "spot"

    def concerns(self, service: str, operation: str, region: str) -> bool:
        """Return True when a call is one that the fault may hit."""
        wanted, _, name = self.what.partition(":")
        return fnmatchcase(service, wanted) and fnmatchcase(operation, name or "*") and fnmatchcase(region, self.region)


@dataclass
class Active:
    """A fault that has been asked for, and what has come of it so far."""

    number: int
    """The number by which it can be taken back."""
    fault: Fault
    undo: Callable[[], None] | None = None
    """A call that ends its effect; None when nothing can be undone."""
    begun: bool = False
    seen: int = 0
    """Calls that it concerned."""
    hits: int = 0
    """Calls that it hit."""

    def hits_next_call(self) -> bool:
        """Return True when the next call that it concerns is hit, and count that call."""
        self.seen += 1
        if self.fault.times is not None and self.hits >= self.fault.times:
            return False
        draw = hashlib.sha256(f"{self.fault.seed}/{self.seen}".encode()).digest()
        hit = int.from_bytes(draw[:8], "big") / 2**64 * 100 < self.fault.percent
        if hit:
            self.hits += 1
        return hit

    def describe(self) -> dict[str, Any]:
        """Return it as the local API and the page show it."""
        return {"id": self.number, **asdict(self.fault), "seen": self.seen, "struck": self.hits}


@dataclass
class Faults:
    """The faults that have been asked for, by number, and not taken back yet. Safe to use from several threads."""

    _active: dict[int, Active] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> Active:
        """Take a fault in, under a number of its own. It hits nothing until its `begun` is set."""
        active = Active(next(self._numbers), fault)
        with self._lock:
            self._active[active.number] = active
        return active

    def remove(self, number: int) -> None:
        """Take a fault back, and undo its effect. An unknown number is ignored."""
        with self._lock:
            active = self._active.pop(number, None)
        if active and active.begun and active.undo:
            active.undo()

    def holds(self, number: int) -> bool:
        """Return True while a fault has not been taken back."""
        with self._lock:
            return number in self._active

    def active(self) -> list[Active]:
        """Return all faults, oldest first."""
        with self._lock:
            return list(self._active.values())

    def that_hit(self, service: str, operation: str, region: str) -> list[Fault]:
        """Return the faults that hit this call. Each fault that the call concerns counts it."""
        if not self._active:
            return []
        with self._lock:
            return [
                each.fault
                for each in self._active.values()
                if each.begun
                and each.fault.kind in CALLS
                and each.fault.concerns(service, operation, region)
                and each.hits_next_call()
            ]
