"""SageMaker training jobs as they run. What a Region says counts for its own trainings only."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.aws.logs import events
from orchestrator.errors import AccessError, AlreadyExists, CloudError, InvalidRequest, NotFound, Unreachable
from orchestrator.platforms.sagemaker.described.outcome import read_outcome
from orchestrator.platforms.sagemaker.request import HASH_TAG, make_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_sagemaker import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import DescribeTrainingJobResponseTypeDef

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Request
    from orchestrator.wire.result import Attempt, Outcome
    from orchestrator.wire.task import Lane, Place, Task
    from orchestrator.wire.template import Template

LOG_GROUP = "/aws/sagemaker/TrainingJobs"
ENDED = ("Completed", "Failed", "Stopped")


class SageMakerRunner:
    """Runs trainings as SageMaker training jobs: see `platforms.base.Runner` for what each method promises."""

    def __init__(self, clients: Clients) -> None:
        self.clients = clients

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        return make_request(template, task, place, attempt, max_runtime_s)

    def make_body(self, environ: Mapping[str, str], lane: Lane) -> dict[str, Any]:
        from orchestrator.platforms.sagemaker.from_variables import make_body  # which few launchers need

        return make_body(environ, lane)

    def start(self, request: Request) -> None:
        region = request.lane.region
        try:
            with aws_errors(f"start the training {request.training}", where=region):
                self.clients.client("sagemaker", region, once=True).create_training_job(**request.body)
        except AlreadyExists as error:
            if self._hash(region, request.training) != request.hash:
                raise AlreadyExists(
                    f"the name {request.training} belongs to another training",
                    where=region,
                    hint="another run of this name works in this account: submit under another --name",
                ) from error

    def poll(self, attempt: Attempt) -> Outcome | None:
        try:
            return read_outcome(attempt, self._describe(attempt.lane.region, attempt.training))
        except NotFound:
            return None

    def stop(self, attempt: Attempt) -> None:
        region = attempt.lane.region
        try:
            with aws_errors(f"stop the training {attempt.training}", where=region):
                self._client(region).stop_training_job(TrainingJobName=attempt.training)
        except NotFound:
            return
        except InvalidRequest:
            # AWS will not stop what has ended; that is as good.
            ended = self.poll(attempt)
            if ended is not None and not ended.state.terminal:
                raise

    def logs(
        self,
        attempt: Attempt,
        template: Template,  # noqa: ARG002 (all logs of all runs lie in one group)
        after: dict[str, str],
        *,
        first_instance: bool = False,
    ) -> Iterator[tuple[str, str]]:
        streams = f"{attempt.training}/algo-1-" if first_instance else f"{attempt.training}/"
        return events(self.clients, attempt.lane.region, LOG_GROUP, streams, after)

    def ended(self, region: str, run: str, since: float) -> Iterator[frozenset[str]]:
        with aws_errors(f"list the trainings of {run}", where=region):
            # Not by status: AWS filters by it after it has cut a page, which may then be empty.
            pages = (
                self._client(region)
                .get_paginator("list_training_jobs")
                .paginate(
                    NameContains=f"{run}-",
                    LastModifiedTimeAfter=datetime.fromtimestamp(since, timezone.utc),
                    SortBy="CreationTime",
                    SortOrder="Ascending",
                    PaginationConfig={"PageSize": 100},
                )
            )
            for page in pages:
                yield frozenset(
                    job["TrainingJobName"]
                    for job in page["TrainingJobSummaries"]
                    if job["TrainingJobStatus"] in ENDED and job["TrainingJobName"].startswith(f"{run}-")
                )

    def _hash(self, region: str, training: str) -> str:
        """Return the request hash that a training's tag carries; empty when it carries none."""
        try:
            return self._tags(region, training).get(HASH_TAG, "")
        except NotFound as error:
            # Its name is in use and yet it is not there: being made or unmade just now.
            raise Unreachable(f"{training} can be neither started nor found", where=region, hint="try again") from error
        except AccessError as error:
            # Not an AccessError to our caller: that would say that nothing was started.
            raise CloudError(f"{training} is there, but not to be looked at: {error.message}", where=region) from error

    def _tags(self, region: str, training: str) -> dict[str, str]:
        arn = self._describe(region, training)["TrainingJobArn"]
        with aws_errors(f"read the tags of {training}", where=region):
            pages = self._client(region).get_paginator("list_tags").paginate(ResourceArn=arn)
            return {tag["Key"]: tag["Value"] for page in pages for tag in page["Tags"]}

    def _describe(self, region: str, training: str) -> DescribeTrainingJobResponseTypeDef:
        with aws_errors(f"look at the training {training}", where=region):
            return self._client(region).describe_training_job(TrainingJobName=training)

    def _client(self, region: str) -> SageMakerClient:
        return self.clients.client("sagemaker", region)
