"""What somebody is told who watches: "Efficient detection of changes" in

kubernetes.io/docs/reference/using-api/api-concepts

A watch is registered nowhere. It reads the journal, and is over when nobody asks for its next line.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.reading.selectors import read_selection
from orchestrator.localcloud.services.eks.kubernetes.status import KubeError, bad_request, invalid
from orchestrator.localcloud.services.eks.kubernetes.store import shown

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from orchestrator.localcloud.services.eks.kubernetes.reading.journal import Change
    from orchestrator.localcloud.services.eks.kubernetes.resources import Target
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]
Event = tuple[str, Body]

_LOOKS_UP_S = 0.5
"""Seconds after which a watch looks up at the latest: is somebody there, and what time is it?"""
_BOOKMARKS_S = 60.0
_LEAST_S = 1800.0
"""What a server gives those who do not say for how long: between this and its double."""
_ALL_TOLD = "k8s.io/initial-events-end"


def is_asked_for(query: Mapping[str, str], name: str) -> bool:
    """Say whether a request has a parameter that is on: as a server reads one, with any word but these."""
    return query.get(name, "false").lower() not in ("false", "0")


class Watch:
    """One watch of the objects of a kind."""

    def __init__(self, store: Store, target: Target, query: Mapping[str, str]) -> None:
        """Read what is asked for. Raise KubeError when nobody could be told that."""
        self._store = store
        self._resource = target.resource
        self._selection = read_selection(target.namespace, query)
        self._version = self._read_version(query.get("resourceVersion", ""))
        self._has_bookmarks = is_asked_for(query, "allowWatchBookmarks")
        self._check_match(query)
        self._says_all_told = is_asked_for(query, "sendInitialEvents")
        self._begins_with_all = self._says_all_told or ("sendInitialEvents" not in query and not self._version)
        self._seconds = _read_seconds(query.get("timeoutSeconds", "")) or random.uniform(_LEAST_S, 2 * _LEAST_S)

    def lines(self) -> Generator[bytes, None, None]:
        """Yield what happens, as lines of JSON; an empty one now and then while nothing does."""
        try:
            for kind, body in self._events():
                yield json.dumps({"type": kind, "object": body}).encode() + b"\n" if kind else b""
        except KubeError as refusal:
            yield json.dumps({"type": "ERROR", "object": refusal.body()}).encode() + b"\n"

    def _events(self) -> Iterator[Event]:
        ends = self._store.clock.now() + self._seconds
        version, first = self._begin()
        yield from first
        marks = self._store.clock.now() + _BOOKMARKS_S
        while (now := self._store.clock.now()) < ends:
            if self._has_bookmarks and now >= marks:
                yield self._bookmark(version)
                marks = now + _BOOKMARKS_S
            version, changes = self._wait(version, min(_LOOKS_UP_S, ends - now))
            yield from filter(None, map(self._event, changes))
            if not changes:
                yield "", {}
        if self._has_bookmarks:
            yield self._bookmark(version)

    def _begin(self) -> tuple[int, list[Event]]:
        """Return the version as of which all is told, and what is told first."""
        with self._store.lock:
            version = self._store.version
            if not self._begins_with_all:
                return self._version or version, []
            there = self._store.all(self._resource, self._selection.namespace)
            first: list[Event] = [("ADDED", shown(each)) for each in there if self._selection.has(each)]
        if self._says_all_told:
            first.append(self._bookmark(version, annotations={_ALL_TOLD: "true"}))
        return version, first

    def _wait(self, version: int, seconds: float) -> tuple[int, list[Change]]:
        """Return what has happened after a version, and the version as of which that is all."""
        with self._store.lock:
            journal = self._store.journal
            changes = journal.since(self._resource, version)
            if not changes:
                journal.wait(seconds)
                changes = journal.since(self._resource, version)
            # A version that is yet to come stays what it is: only what comes later is asked for.
            return max(version, journal.version), changes

    def _event(self, change: Change) -> Event | None:
        """Return what a change is to who sees a selection only: what begins to be meant is new there."""
        was = change.before is not None and self._selection.has(change.before)
        if not change.gone and self._selection.has(change.after):
            return ("MODIFIED" if was else "ADDED"), change.after
        if change.before is None or not was:
            return None
        last = change.after if change.gone else change.before
        return "DELETED", {**last, "metadata": {**last["metadata"], "resourceVersion": str(change.version)}}

    def _bookmark(self, version: int, **more: Any) -> Event:
        meta = {"resourceVersion": str(version), **more}
        return "BOOKMARK", {"apiVersion": self._resource.api_version, "kind": self._resource.kind, "metadata": meta}

    # Reading the request

    def _read_version(self, text: str) -> int:
        """Return the version after which changes are asked for; 0 for any."""
        if text and not (text.isascii() and text.isdigit()):
            raise invalid(self._resource, "", [f'resourceVersion: Invalid value: "{text}": it is no version of a list'])
        return int(text or 0)

    def _check_match(self, query: Mapping[str, str]) -> None:
        """Raise KubeError unless two parameters are there that belong together, or none of them is."""
        match = query.get("resourceVersionMatch", "")
        if "sendInitialEvents" not in query and match:
            why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            raise invalid(self._resource, "", [f"resourceVersionMatch: Forbidden: {why}"])
        if "sendInitialEvents" in query and match != "NotOlderThan":
            why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            raise invalid(self._resource, "", [f"resourceVersionMatch: Forbidden: {why}"])


def _read_seconds(text: str) -> int:
    """Return for how long somebody asks; 0 for one who does not say."""
    if text and not (text.isascii() and text.isdigit()):
        raise bad_request(f'timeoutSeconds: Invalid value: "{text}": it is no number of seconds')
    return int(text or 0)
