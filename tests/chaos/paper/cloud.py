"""AWS on paper: what product code gets in place of boto3's clients. A call takes microseconds, and all of it forks.

`Clients` is what orchestrator.aws.session.Clients is: one client for each service and Region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, ConnectionClosedError, EndpointConnectionError

from tests.chaos.paper.batch import PaperBatch
from tests.chaos.paper.s3 import PaperS3
from tests.chaos.paper.sagemaker import PaperSageMaker
from tests.chaos.paper.weather import Weather, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.chaos.paper.hub import Hub

ACCOUNT = "123456789012"
CHANGES = ("put_", "delete_", "submit_", "terminate_", "create_", "stop_", "register_", "update_")
"""Beginnings of the names of calls that change something."""
TRIES = 5
"""Times that botocore sends a call which may be sent again."""
AGAIN = ("ThrottlingException", "InternalFailure")
STALE_S = 3.0


class PaperCloud:
    """One account."""

    def __init__(self, hub: Hub, weather: Weather, seed: int, launch: Callable[[Mapping[str, str]], int]) -> None:
        self.hub = hub
        self.weather = weather
        self.s3 = PaperS3(hub)
        self.batch = PaperBatch(hub, launch)
        self.sagemaker = PaperSageMaker(hub, seed)
        self.calls = 0
        self.boundary: Callable[[str, str, Callable[[], Any] | None], None] = lambda *_: None
        """Called at each call: where it is (`call` before it, `answer` after it), its name, and what it does."""

    def call(self, service: str, operation: str, region: str, asked: dict[str, Any], *, once: bool) -> dict[str, Any]:
        """Do what botocore does for a call: send it, and send it again where that is harmless."""
        for number in range(1 if once else TRIES):
            try:
                return self._send(service, operation, region, asked)
            except (ClientError, ConnectionClosedError, EndpointConnectionError) as error:
                code = error.response["Error"]["Code"] if isinstance(error, ClientError) else AGAIN[0]
                if once or code not in AGAIN or number == TRIES - 1:
                    raise
                self.hub.sleep(0.5 * 2**number)
        raise AssertionError("never here")

    def _send(self, service: str, operation: str, region: str, asked: dict[str, Any]) -> dict[str, Any]:
        name, changes = f"{service}:{operation}", operation.startswith(CHANGES)
        self.hub.give_way()
        self.calls += 1

        def do() -> dict[str, Any]:
            return self._do(service, operation, region, asked)

        self.boundary("call", name, do if changes else None)
        if self.weather.hits("slow", name, region):
            self.hub.sleep(self.hub.chance.uniform(0.5, 14.0))
        self.weather.raise_before(name, region)
        answer = do()
        if changes:
            self.boundary("answer", name, None)
        self.hub.give_way()
        self.weather.raise_after(name, region)
        return answer

    def _do(self, service: str, operation: str, region: str, asked: dict[str, Any]) -> dict[str, Any]:
        if service == "s3":
            answer: dict[str, Any] = getattr(self.s3, operation)(asked)
        elif service == "batch":
            answer = getattr(self.batch, operation)(asked)
        elif service == "sagemaker":
            stale = operation.startswith("describe") and self.weather.hits("stale", f"{service}:{operation}", region)
            more = {"age": STALE_S} if stale else {}
            answer = getattr(self.sagemaker, operation)(asked, region, **more)
        elif operation == "get_caller_identity":
            answer = {"Account": ACCOUNT}
        elif operation == "batch_get_image":
            answer = {"images": [{"imageId": {"imageDigest": "sha256:" + "0" * 64}}]}
        elif service == "logs":
            raise refusal("ResourceNotFoundException", "The specified log group does not exist.")
        else:
            raise AssertionError(f"the paper AWS has no {service} {operation}")
        return answer


class Clients:
    """Clients of a paper cloud."""

    def __init__(self, cloud: PaperCloud) -> None:
        self.cloud = cloud
        self.profile = None

    def client(self, service: str, region: str, *, once: bool = False) -> Client:
        return Client(self.cloud, service, region, once)


class Client:
    """What boto3 makes for a service: a method for each operation, and paginators of one page."""

    def __init__(self, cloud: PaperCloud, service: str, region: str, once: bool) -> None:
        self._at = cloud, service, region, once
        self.exceptions = _Exceptions()

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        cloud, service, region, once = self._at
        return lambda **asked: cloud.call(service, operation, region, asked, once=once)

    def get_paginator(self, operation: str) -> Any:
        return _Paginator(getattr(self, operation))


class _Paginator:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def paginate(self, **asked: Any) -> Iterator[Any]:
        asked.pop("PaginationConfig", None)
        yield self._call(**asked)


class _Exceptions:
    def __getattr__(self, name: str) -> type[Exception]:
        return type(name, (Exception,), {})
