"""Steer a running cloud from outside: its clock, and what is to go wrong. Standard library only."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from orchestrator.localcloud.errors import LocalCloudError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Steering:
    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._opener = build_opener(ProxyHandler({}))

    def advance(self, seconds: float) -> None:
        """Move the cloud's clock: what would have happened meanwhile (time-outs, schedules) happens now."""
        self._send("POST", "clock", {"advance": seconds})

    def add(self, kind: str, what: str = "*", **parts: Any) -> dict[str, Any]:
        """Let something go wrong; its parts are those of `faults.Fault`. The answer has its number, as `id`."""
        return self._send("POST", "faults", {"kind": kind, "what": what, **parts})

    def faults(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._send("GET", "faults")["faults"]
        return found

    def remove(self, number: int | None = None) -> None:
        """Take a fault back; all, without a number."""
        self._send("DELETE", "faults" if number is None else f"faults/{number}")

    @contextmanager
    def fault(self, kind: str, what: str = "*", **parts: Any) -> Iterator[None]:
        """While the block runs."""
        number = self.add(kind, what, **parts)["id"]
        try:
            yield
        finally:
            self.remove(number)

    def _send(self, method: str, action: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._endpoint}/_local/{action}", data=data, method=method)
        try:
            with self._opener.open(request, timeout=60) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except HTTPError as error:
            raise LocalCloudError(json.load(error)["message"]) from error
        except URLError as error:
            raise LocalCloudError(f"no local cloud answers at {self._endpoint}") from error
