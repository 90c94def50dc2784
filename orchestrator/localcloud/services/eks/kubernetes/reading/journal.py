"""What has happened to the objects of one cluster: of each kind the latest changes, each with a version of its own."""

from __future__ import annotations

import copy
import threading
from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.status import expired

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource

Body = dict[str, Any]

KEPT = 1000
"""Changes of each kind that are kept. A real server keeps those of the last five minutes."""


@dataclass(frozen=True)
class Change:
    """What one change has made of an object. Nobody may change these two."""

    version: int
    before: Body | None
    """None for a new object."""
    after: Body
    """The last that was known of it, for one that is gone."""
    gone: bool = False


class Journal:
    """The changes of one cluster. Its methods are called by whoever holds the lock that it is given."""

    def __init__(self, lock: threading.RLock) -> None:
        self.version = 0
        """The latest."""
        self._latest: dict[str, Body] = {}
        """Each object as it was when it was last written down, by its uid."""
        self._changes: defaultdict[Resource, deque[Change]] = defaultdict(deque)
        self._forgotten: defaultdict[Resource, int] = defaultdict(int)
        """The version of the latest change of each kind that is not kept any more."""
        self._written = threading.Condition(lock)

    def write(self, resource: Resource, body: Body, *, gone: bool = False) -> bool:
        """Write down how an object is now, and give it a version; return False where nothing has changed."""
        meta = body["metadata"]
        before = self._latest.get(meta["uid"])
        if body == before and not gone:
            return False
        self.version += 1
        meta["resourceVersion"] = str(self.version)
        after = copy.deepcopy(body)
        if gone:
            self._latest.pop(meta["uid"], None)
        else:
            self._latest[meta["uid"]] = after
        changes = self._changes[resource]
        changes.append(Change(self.version, before, after, gone))
        if len(changes) > KEPT:
            self._forgotten[resource] = changes.popleft().version
        self._written.notify_all()
        return True

    def since(self, resource: Resource, version: int) -> list[Change]:
        """Return what has happened to objects of a kind after a version. Raise KubeError when that is not kept."""
        if version < self._forgotten[resource]:
            raise expired(version, self._forgotten[resource])
        newest_first = takewhile(lambda change: change.version > version, reversed(self._changes[resource]))
        return list(newest_first)[::-1]

    def undo(self, resource: Resource, there: list[Body], version: int) -> list[Body]:
        """Return the objects of a kind that there were at a version. Raise KubeError when that is not known."""
        found = {each["metadata"]["uid"]: each for each in there}
        for change in reversed(self.since(resource, version)):
            uid = change.after["metadata"]["uid"]
            if change.before is None:
                del found[uid]
            else:
                found[uid] = change.before
        return list(found.values())

    def wait(self, seconds: float) -> None:
        """Let others go on until one of them has written something, or so many seconds are over."""
        self._written.wait(seconds)
