"""A fake AWS on this machine: S3, Batch and SageMaker training whose jobs are real local processes.

It knows nothing of the rest of this package: any program that takes AWS_ENDPOINT_URL can use it.
"""

from __future__ import annotations

from orchestrator.localcloud.cloud import LocalCloud, down, environment, status, up
from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.home import Serving
from orchestrator.localcloud.steering import Steering

__all__ = ["LocalCloud", "LocalCloudError", "Serving", "Steering", "down", "environment", "status", "up"]
