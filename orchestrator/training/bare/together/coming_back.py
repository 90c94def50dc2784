"""Tells whether a training whose machines come and go may go on: it failed because machines had lost each other.

The first machine is where all meet. Each time that it begins, it writes since when it is there: then the others begin
again, too. It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

from orchestrator.training.bare.files.bucket import S3Failed, Uri
from orchestrator.training.bare.files.folders import read_ended_by
from orchestrator.training.bare.together.meet import hear_word, leave_word
from orchestrator.training.process import write_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.training.bare.files.bucket import Bucket
    from orchestrator.training.bare.together.meet import Meeting
    from orchestrator.training.bare.together.place import Place

_OF_TORCHRUN = re.compile(r"Dist(Store|Network|Backend)?Error|Rendezvous\w*Error")
"""Errors of torchrun itself, and not of what it has started: its processes on several machines missed each other."""
_OF_THE_SCRIPT = "ChildFailedError"
"""Torchrun has started its processes as often as it may. The others cannot go on: it has closed their meeting, too."""


def gave_up(base: Path) -> bool:
    """Return whether torchrun has ended because of the processes that it has started."""
    return _OF_THE_SCRIPT in read_ended_by(base)


def lost_each_other(base: Path) -> bool:
    """Return whether torchrun has ended for want of other machines."""
    return _OF_TORCHRUN.search(read_ended_by(base)) is not None


def begun_before(bucket: Bucket, output: str) -> float:
    """Return the seconds since the first machine of a training began, whose machines may come and go.

    The first one writes it down. So all of them end when the training's time is over, and not when their own is.
    """
    uri, now = Uri.parse(f"{output}/began.json"), time.time()
    try:
        if bucket.write(uri, json.dumps({"at": now}).encode(), once=True):
            return 0.0
        return max(now - float(json.loads(bucket.read(uri))["at"]), 0.0)
    except (S3Failed, ValueError, KeyError, TypeError) as error:
        write_line(f"sweep: nobody can say since when it trains: {error}")
        return 0.0


class First:
    """The first machine, as the others know it."""

    def __init__(self, meeting: Meeting, place: Place, say: Callable[[str], None]) -> None:
        self._meeting = meeting
        self._place = place
        self._say = say

    def begins(self) -> str:
        """Return since when the first machine trains; write it down if that is this one, which begins now."""
        if self._place.index == 0:
            try:
                leave_word(self._meeting, {"address": self._place.address, "since": str(time.time())})
            except S3Failed as error:
                self._say(f"the others cannot be told that the first machine begins: {error}")
        return self.since()

    def since(self) -> str:
        """Return since when the first machine trains, as it has written; nothing if nobody can tell."""
        try:
            word = hear_word(self._meeting, 0)
        except (S3Failed, ValueError) as error:
            self._say(f"nobody can say where the first machine is: {error}")
            return ""
        return word.get("since", "") if word else ""
