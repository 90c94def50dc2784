"""Calls the services of this cloud, as anybody does: over HTTP, with the cloud's own key."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.names import Access


class Caller:
    """A client of each service in one Region, made on first use."""

    def __init__(self, access: Access, account: str, region: str) -> None:
        self._access = access
        self.account = account
        self.region = region
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    def client(self, service: str) -> Any:
        """Return boto3's client of a service, which tells an error at once."""
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return self._clients[service]

    def _make(self, service: str) -> Any:
        from boto3.session import Session
        from botocore.config import Config

        session = Session(aws_access_key_id=self._access.key_id, aws_secret_access_key=self._access.secret)
        make: Any = session.client  # its stubs know services one by one
        return make(
            service,
            region_name=self.region,
            endpoint_url=self._access.endpoint,
            config=Config(retries={"mode": "standard", "total_max_attempts": 4}),
        )
