"""Calls the services of this cloud, as anybody does: over HTTP, with the cloud's own key."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.names import Access


@cache
def _session(access: Access) -> Any:
    """Return a session of boto3. All Regions share it, and so it reads AWS's long descriptions of its services once."""
    from boto3.session import Session

    return Session(aws_access_key_id=access.key_id, aws_secret_access_key=access.secret)


_MAKING = threading.Lock()
"""Clients may be shared between threads; making them may not."""


class Caller:
    """A client of each service in one Region, made on first use."""

    def __init__(self, access: Access, account: str, region: str) -> None:
        self._access = access
        self.account = account
        self.region = region
        self._clients: dict[str, Any] = {}

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
