"""What is to go wrong, and which call it strikes. Pure, but for the clock: the same seed strikes the same calls.

The n-th call that a fault concerns is struck, or not, whatever else goes on; so a failure can be replayed.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from dataclasses import asdict, dataclass, field, fields
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = {
    "throttle": "calls are refused, as when there are too many",
    "error": "calls fail with 500: before their effect, or --after it",
    "slow": "calls are answered after --seconds",
    "reset": "connections break: before a call's effect, or --after it",
    "stale": "a call is answered as it was up to --seconds ago",
    "down": "a Region answers nobody",
}
EVENTS = {
    "capacity": "a Region has no instances for --seconds",
    "quota": "a Region's quota for an instance type is --value",
    "reclaim": "a spot training's instances, or a Batch job's host, are taken away",
    "crash": "a training's instances fail: an InternalServerError",
    "kill": "a training's or a Batch job's processes are killed",
}
KINDS = {**CALLS, **EVENTS}


@dataclass(frozen=True)
class Fault:
    kind: str
    what: str = "*"
    """Of calls, `service:Operation`, where an asterisk stands for any; of events, a training's name or a job's id."""
    region: str = "*"
    percent: float = 100.0
    seed: int = 0
    seconds: float = 0.0
    after: bool = False
    times: int | None = None
    """How many calls it strikes at most."""
    lasts: float | None = None
    """Seconds, on the cloud's clock; None is until it is taken back."""
    delay: float = 0.0
    """Seconds, on the cloud's clock, until it begins."""
    instance_type: str | None = None
    purchase: str | None = None
    value: int = 0

    @classmethod
    def read(cls, body: dict[str, Any]) -> Fault:
        """From a request; ValueError says what is wrong with it."""
        known = {each.name for each in fields(cls)}
        if unknown := set(body) - known:
            raise ValueError(f"a fault has no {', '.join(sorted(unknown))}: it has {', '.join(sorted(known))}")
        fault = cls(**body)
        if fault.kind not in KINDS:
            raise ValueError(f"there is no fault {fault.kind}: there are {', '.join(KINDS)}")
        if fault.kind in ("down", "capacity", "quota") and fault.region == "*":
            raise ValueError(f"{fault.kind} needs a region")
        if fault.kind == "quota" and fault.instance_type is None:
            raise ValueError("quota needs an instance_type")
        if fault.kind in ("slow", "stale", "capacity") and fault.seconds <= 0:
            raise ValueError(f"{fault.kind} needs seconds")
        if fault.kind in ("reclaim", "crash", "kill") and fault.what == "*":
            raise ValueError(f"{fault.kind} needs the name of a training or the id of a job")
        if fault.purchase not in (None, "spot", "on_demand"):
            raise ValueError(f"purchase is spot or on_demand, not {fault.purchase}")
        return fault

    @property
    def spot(self) -> bool | None:
        return None if self.purchase is None else self.purchase == "spot"

    def concerns(self, service: str, operation: str, region: str) -> bool:
        wanted, _, name = self.what.partition(":")
        return fnmatchcase(service, wanted) and fnmatchcase(operation, name or "*") and fnmatchcase(region, self.region)


@dataclass
class Active:
    """A fault that has been asked for."""

    number: int
    fault: Fault
    undo: Callable[[], None] | None = None
    begun: bool = False
    seen: int = 0
    struck: int = 0

    def strikes(self) -> bool:
        """Whether the next call that it concerns is struck. Counts it."""
        fault, self.seen = self.fault, self.seen + 1
        draw = hashlib.sha256(f"{fault.seed}/{self.seen}".encode()).digest()
        hit = int.from_bytes(draw[:8], "big") / 2**64 * 100 < fault.percent
        if not hit or (fault.times is not None and self.struck >= fault.times):
            return False
        self.struck += 1
        return True

    def describe(self) -> dict[str, Any]:
        return {"id": self.number, **asdict(self.fault), "seen": self.seen, "struck": self.struck}


@dataclass
class Faults:
    """Those asked for, by number, and not yet taken back."""

    _active: dict[int, Active] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> Active:
        active = Active(next(self._numbers), fault)
        with self._lock:
            self._active[active.number] = active
        return active

    def remove(self, number: int) -> None:
        with self._lock:
            active = self._active.pop(number, None)
        if active and active.begun and active.undo:
            active.undo()

    def holds(self, number: int) -> bool:
        with self._lock:
            return number in self._active

    def active(self) -> list[Active]:
        with self._lock:
            return list(self._active.values())

    def striking(self, service: str, operation: str, region: str) -> list[Fault]:
        """The faults that strike this call."""
        if not self._active:
            return []
        with self._lock:
            return [
                each.fault
                for each in self._active.values()
                if each.begun
                and each.fault.kind in CALLS
                and each.fault.concerns(service, operation, region)
                and each.strikes()
            ]
