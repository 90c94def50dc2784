"""Client tokens: a RunInstances that is sent twice launches once.

https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html: a token is good for a Region, or for one zone
of it when the request names one. It is kept for at least a day after the instances have ended; here, for good.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.instance import Reservation


class ClientTokens:
    """The tokens of one Region, each with what was launched by it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[str, Reservation]] = {}

    def find(self, request: dict[str, Any], zone: str) -> Reservation | None:
        """Return what a request launched when it was sent before; None for a new one.

        Raise AwsError when another request had its token. `zone` is the one that the request names, empty if none.
        """
        known = self._known.get((request.get("ClientToken", ""), zone))
        if known is None or "ClientToken" not in request:
            return None
        text, reservation = known
        if text != _text(request):
            raise AwsError(
                "IdempotentParameterMismatch",
                "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).",
            )
        return reservation

    def keep(self, request: dict[str, Any], zone: str, reservation: Reservation) -> None:
        """Remember what a request launched."""
        if "ClientToken" in request:
            self._known[request["ClientToken"], zone] = (_text(request), reservation)


def _text(request: dict[str, Any]) -> str:
    return json.dumps(request, sort_keys=True)
