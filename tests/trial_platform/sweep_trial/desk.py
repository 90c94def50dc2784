"""What a Region's API offers: hand a training in, ask for it to be stopped, and look at it while it is there.

A Region is a folder below `~/.sweep-trial`: `waiting/` holds trainings that have not begun, `stopping/` the names of
those to be stopped, and `running/` the code, the data and the logs of those that run.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


class Desk:
    """The desk of one Region."""

    def __init__(self, region: str) -> None:
        home = Path.home() / ".sweep-trial" / region
        self.waiting, self.stopping, self.running = home / "waiting", home / "stopping", home / "running"
        for folder in (self.waiting, self.stopping, self.running):
            folder.mkdir(parents=True, exist_ok=True)

    def hand_in(self, body: dict[str, Any]) -> None:
        """Let a training wait for its turn. Handing it in again changes nothing."""
        draft = self.waiting / f".{body['name']}.{os.getpid()}.{time.monotonic_ns()}"
        draft.write_text(json.dumps(body))
        draft.replace(self.waiting / body["name"])

    def waits(self, training: str) -> bool:
        return (self.waiting / training).exists()

    def ask_to_stop(self, training: str) -> None:
        (self.stopping / training).touch()

    def log(self, training: str, instance: int) -> bytes | None:
        """Return what an instance has written so far; None if the training does not run."""
        try:
            return (self.running / training / f"log-{instance}").read_bytes()
        except FileNotFoundError:
            return None
