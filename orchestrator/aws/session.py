"""Makes all clients of AWS. AWS's own conventions (profiles, SSO, roles, AWS_*) work by themselves."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, overload

from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_batch import BatchClient
    from mypy_boto3_ecr import ECRClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sagemaker import SageMakerClient


TRIES = 5
"""Times that a call is sent, if its answer is lost or AWS is busy."""
ONCE_S = 15
"""Seconds after which the answer of a call that is sent once is given up. Batch gives a launcher 30 s to go: until then
it must know what it has started, or that it does not know."""


class Clients:
    """Holds one client per service and Region, made on first use and shared by all threads.

    Those with `once` send each call once: what must not happen twice, such as SubmitJob, is repeated by its caller, who
    first looks at what became of it.
    """

    def __init__(self, profile: str | None = None) -> None:
        self.profile = profile
        self._made: dict[tuple[str, str, bool], Any] = {}
        self._session: Session | None = None
        self._lock = threading.Lock()

    @overload
    def client(self, service: Literal["batch"], region: str, *, once: bool = False) -> BatchClient: ...
    @overload
    def client(self, service: Literal["ecr"], region: str, *, once: bool = False) -> ECRClient: ...
    @overload
    def client(self, service: Literal["logs"], region: str, *, once: bool = False) -> CloudWatchLogsClient: ...
    @overload
    def client(self, service: Literal["s3"], region: str, *, once: bool = False) -> S3Client: ...
    @overload
    def client(self, service: Literal["sagemaker"], region: str, *, once: bool = False) -> SageMakerClient: ...
    @overload
    def client(self, service: str, region: str, *, once: bool = False) -> Any: ...
    def client(self, service: str, region: str, *, once: bool = False) -> Any:
        # Clients may be shared between threads; making them may not.
        with self._lock, aws_errors(f"open a client for {service}", where=region):
            key = (service, region, once)
            if key not in self._made:
                self._made[key] = self._make(service, region, once)
            return self._made[key]

    def regions(self, service: str, beside: str | None = None) -> list[str]:
        """Return every Region in which AWS offers a service, as our SDK knows them.

        They are of the part of the world that this Region is `beside` in, such as China; without it, the profile's.
        """
        from boto3.session import Session
        from botocore.exceptions import UnknownRegionError

        session = Session(profile_name=self.profile)
        near = beside or session.region_name
        try:
            partition = session.get_partition_for_region(near) if near else "aws"
        except UnknownRegionError:
            partition = "aws"
        return session.get_available_regions(service, partition)

    def credentials(self) -> Any:
        """Return whose credentials sign the calls, for what is signed by hand; None when there are none."""
        with self._lock:
            return self._opened().get_credentials()

    def _opened(self) -> Session:
        """Return the one session of all clients. The caller holds the lock."""
        from boto3.session import Session

        if self._session is None:
            self._session = Session(profile_name=self.profile)
        return self._session

    def _make(self, service: str, region: str, once: bool) -> Any:
        from botocore.config import Config

        config = Config(
            retries={"mode": "standard", "total_max_attempts": 1 if once else TRIES},
            connect_timeout=ONCE_S / 3 if once else 10,
            read_timeout=ONCE_S if once else 60,
            user_agent_extra="sweep-orchestrator",
        )
        make: Any = self._opened().client  # its stubs know services one by one
        return make(service, region_name=region, config=config)
