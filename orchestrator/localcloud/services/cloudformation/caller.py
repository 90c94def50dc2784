"""Calls the services of this cloud, as anybody does: over HTTP, with the cloud's own key or with our caller's."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.names import Access


@cache
def _session(access: Access) -> Any:
    """Return a session of boto3. All Regions share it, and so it reads AWS's long descriptions of its services once."""
    from boto3.session import Session

    return Session(
        aws_access_key_id=access.key_id,
        aws_secret_access_key=access.secret,
        aws_session_token=access.token or None,
    )


_ACTING: ContextVar[Access | None] = ContextVar("acting", default=None)
"""Whose call is being answered, where that matters."""


def act_for(access: Access) -> None:
    """Say whose call is being answered: what it has made is made with that key."""
    _ACTING.set(access)


_MAKING = threading.Lock()
"""Clients may be shared between threads; making them may not."""


class Caller:
    """A client of each service in one Region, made on first use."""

    def __init__(self, access: Access, account: str, region: str) -> None:
        self._access = access
        self.account = account
        self.region = region
        self._clients: dict[str, Any] = {}

    def on_behalf(self) -> Caller:
        """Return who calls with the key of whoever calls us now; ourselves, where nobody is held to policies."""
        access = _ACTING.get()
        return self if access in (None, self._access) else Caller(access, self.account, self.region)

    def client(self, service: str) -> Any:
        """Return boto3's client of a service, which tells an error at once."""
        with _MAKING:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return self._clients[service]

    def _make(self, service: str) -> Any:
        from botocore.config import Config

        return _session(self._access).client(
            service,
            region_name=self.region,
            endpoint_url=self._access.endpoint,
            config=Config(retries={"mode": "standard", "total_max_attempts": 4}),
        )
