"""Whose turn it is: how many of a run may run at once, what does, and who goes ahead of its lane."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from orchestrator.wire.beside.markers import Canary, Limit
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from orchestrator.aws.control import Control


class Turns:
    """The objects of one run by which its launchers take turns."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.keys = control.keys
        self.s3 = control.s3

    def limit(self) -> Limit:
        """Return how many may run at once; a limit of nothing if nobody has set one."""
        found = self.control.find(self.keys.limit, Limit.from_json)
        return found[0] if found else Limit()

    def set_limit(self, limit: Limit) -> None:
        """Say how many may run at once from now on."""
        self.control.advance(self.keys.limit, Limit.from_json, lambda _: limit, even_damaged=True)

    def running(self) -> dict[int, list[tuple[Lane, int]]]:
        """Return what is written down as running: tasks, each with a lane and its instances there."""
        found: dict[int, list[tuple[Lane, int]]] = {}
        for item in self.s3.list(self.keys.running):
            with suppress(ValueError):  # what else lies there is none of ours
                task, instances, lane = item.key.removeprefix(self.keys.running).split("~", 2)
                found.setdefault(int(task), []).append((Lane.parse(lane), int(instances)))
        return found

    def note_running(self, task: int, lane: Lane, instances: int) -> None:
        """Write down that a task runs there, and nowhere else."""
        key = self.keys.running_task(task, instances, lane)
        self.s3.put_once(key, b"")
        self.note_gone(task, but=key)

    def note_gone(self, task: int, *, but: str = "") -> None:
        """Write down that a task does not run any more."""
        for item in self.s3.list(self.keys.running_as(task)):
            if item.key != but:
                self.s3.delete(item.key)

    def canary(self, lane: Lane, number: int) -> Canary | None:
        """Return the task that goes ahead of its lane as the one of this number; None if there is none yet."""
        found = self.control.find(self.keys.canary(lane, number), Canary.from_json)
        return found[0] if found else None

    def send_ahead(self, lane: Lane, number: int, canary: Canary) -> bool:
        """Send a task ahead of its lane. Return False if another one has this number."""
        body = json.dumps(canary.to_json(), separators=(",", ":"), allow_nan=False)
        return self.s3.put_once(self.keys.canary(lane, number), body.encode())
