"""What AWS has not: a way to steer this cloud, under /_local/ of its own address."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud import answers
from orchestrator.localcloud.answers import Answer, AwsError

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Clock

PREFIX = "/_local/"


class Control:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def answer(self, environ: dict[str, Any]) -> Answer:
        """JSON in, JSON out."""
        action = environ["PATH_INFO"].removeprefix(PREFIX)
        if environ["REQUEST_METHOD"] != "POST" or action != "clock":
            raise AwsError("LocalCloudError", f"nothing at {PREFIX}{action}", 404)
        body = json.loads(environ["wsgi.input"].getvalue())
        self._clock.advance(body["advance"])
        return answers.document({"now": self._clock.now()})
