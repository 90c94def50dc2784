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


class Clients:
    """Holds one client per service and Region, made on first use and shared by all threads."""

    def __init__(self, profile: str | None = None) -> None:
        self.profile = profile
        self._made: dict[tuple[str, str], Any] = {}
        self._session: Session | None = None
        self._lock = threading.Lock()

    @overload
    def client(self, service: Literal["batch"], region: str) -> BatchClient: ...
    @overload
    def client(self, service: Literal["ecr"], region: str) -> ECRClient: ...
    @overload
    def client(self, service: Literal["logs"], region: str) -> CloudWatchLogsClient: ...
    @overload
    def client(self, service: Literal["s3"], region: str) -> S3Client: ...
    @overload
    def client(self, service: Literal["sagemaker"], region: str) -> SageMakerClient: ...
    @overload
    def client(self, service: str, region: str) -> Any: ...
    def client(self, service: str, region: str) -> Any:
        # Clients may be shared between threads; making them may not.
        with self._lock, aws_errors(f"open a client for {service}", where=region):
            if (service, region) not in self._made:
                self._made[service, region] = self._make(service, region)
            return self._made[service, region]

    def _make(self, service: str, region: str) -> Any:
        from boto3.session import Session
        from botocore.config import Config

        if self._session is None:
            self._session = Session(profile_name=self.profile)
        config = Config(
            retries={"mode": "standard", "total_max_attempts": 5},
            connect_timeout=10,
            read_timeout=60,
            user_agent_extra="sweep-orchestrator",
        )
        make: Any = self._session.client  # its stubs know services one by one
        return make(service, region_name=region, config=config)
