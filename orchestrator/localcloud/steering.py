"""Steers a running cloud from outside: its clock, and what is to go wrong. Standard library only.

The other side is `local_api.py`.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from orchestrator.localcloud.errors import LocalCloudError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.localcloud.names import Access


class Steering:
    """A client of one running cloud. Its methods raise LocalCloudError when the cloud refuses, or is not there."""

    def __init__(self, access: Access) -> None:
        self._endpoint = access.endpoint
        self._headers = {"Authorization": f"Bearer {access.secret}"}
        self._opener = build_opener(ProxyHandler({}))

    def advance(self, seconds: float) -> None:
        """Move the cloud's clock. What would have happened meanwhile (time-outs, schedules) happens now."""
        self._send("POST", "clock", {"advance": seconds})

    def now(self) -> float:
        """Return what time it is there, in seconds since 1970."""
        return float(self._send("GET", "overview")["now"])

    def add(self, kind: str, what: str = "*", **parts: Any) -> dict[str, Any]:
        """Let something go wrong. `parts` are further fields of a `faults.Fault`. Return it, with a number, `id`."""
        return self._send("POST", "faults", {"kind": kind, "what": what, **parts})

    def faults(self) -> list[dict[str, Any]]:
        """Return the faults that have not been taken back, each with the calls that it has seen and struck."""
        found: list[dict[str, Any]] = self._send("GET", "faults")["faults"]
        return found

    def permissions(self) -> list[dict[str, Any]]:
        """Return every permission that was asked of IAM: who, which action, resource and context, and how often."""
        found: list[dict[str, Any]] = self._send("GET", "permissions")["asked"]
        return found

    def remove(self, number: int | None = None) -> None:
        """Take a fault back. Without a number, take all back."""
        self._send("DELETE", "faults" if number is None else f"faults/{number}")

    @contextmanager
    def fault(self, kind: str, what: str = "*", **parts: Any) -> Iterator[None]:
        """Let something go wrong while the block runs."""
        number = self.add(kind, what, **parts)["id"]
        try:
            yield
        finally:
            self.remove(number)

    def _send(self, method: str, action: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._endpoint}/_local/{action}", data=data, headers=self._headers, method=method)
        try:
            with self._opener.open(request, timeout=60) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except HTTPError as error:
            raise LocalCloudError(json.load(error)["message"]) from error
        except URLError as error:
            raise LocalCloudError(f"no local cloud answers at {self._endpoint}") from error
