"""SageMaker's operations on training jobs in one Region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http import validation
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.moto.backends import Networks
from orchestrator.localcloud.services.quotas import QuotaKey, exceeded_message
from orchestrator.localcloud.services.sagemaker.permissions import keys
from orchestrator.localcloud.services.sagemaker.request_checks import check_request, validation_error
from orchestrator.localcloud.services.sagemaker.training import ENDED, Training

if TYPE_CHECKING:
    from orchestrator.localcloud.services.sagemaker.lifecycle import Lifecycle
    from orchestrator.localcloud.services.sagemaker.wishes import Wish
    from orchestrator.localcloud.site import Site

Body = dict[str, Any]


class Trainings:
    """SageMaker in one Region. Each operation is a method: it has boto3's name, takes a request, returns an answer.

    A method raises AwsError to refuse a request.
    """

    def __init__(self, site: Site, region: str, lifecycle: Lifecycle) -> None:
        self._site = site
        self._region = region
        self._lifecycle = lifecycle
        self._networks = Networks()
        self.jobs: dict[str, Training] = {}
        """All trainings by their names."""

    def create_training_job(self, body: Body) -> Body:
        shape = validation.operation("sagemaker", "CreateTrainingJob")
        if shape:
            validation.check(shape, body)
        name = body["TrainingJobName"]
        arn = self._site.arn("sagemaker", self._region, f"training-job/{name}")
        with self._lifecycle.lock:
            if name in self.jobs:
                raise AwsError(
                    "ResourceInUse",
                    "Training job names must be unique within an AWS account and region, "
                    f"and a training job with this name already exists ({arn})",
                )
            check_request(body, self._region, self._site.objects, self._networks)
            training = Training(name, arn, self._region, body, self._site.clock.now())
            training.wishes = self._within_quota(training)
            training.wish = training.wishes[0]
            training.keys = keys(self._site, training)
            training.tags = {tag["Key"]: tag["Value"] for tag in body.get("Tags", ())}
            self.jobs[name] = training
            self._lifecycle.start(training)
        return {"TrainingJobArn": arn}

    def _within_quota(self, training: Training) -> list[Wish]:
        """Return what a training wishes for within its quotas; raise SageMaker's refusal if there is nothing."""
        refusals = {wish: self._exceeds_quota(training, wish) for wish in training.wishes}
        allowed = [wish for wish, refusal in refusals.items() if not refusal]
        if not allowed:
            raise AwsError("ResourceLimitExceeded", next(iter(refusals.values())))
        return allowed

    def _exceeds_quota(self, training: Training, wish: Wish) -> str:
        """Return the words with which SageMaker refuses so many more instances; nothing if it does not."""
        key = QuotaKey(self._region, wish.instance_type, training.spot)
        used = sum(
            each.instances
            for each in self.jobs.values()
            if each.status not in ENDED and (each.instance_type, each.spot) == (key.instance_type, key.spot)
        )
        limit = self._site.quotas.limit(key)
        return exceeded_message(key, limit, used, wish.instances) if used + wish.instances > limit else ""

    def describe_training_job(self, body: Body) -> Body:
        with self._lifecycle.lock:
            return self._job(body).describe()

    def stop_training_job(self, body: Body) -> None:
        training = self._job(body)
        if training.status in ENDED:
            raise validation_error(f"The request was rejected because the training job is in status {training.status}.")
        self._lifecycle.stop(training, "Stopped")

    def delete_training_job(self, body: Body) -> None:
        with self._lifecycle.lock:
            training = self._job(body)
            if training.status not in ENDED:
                raise AwsError(
                    "ResourceInUse",
                    f"Training job {training.name} is in status {training.status} and cannot be deleted.",
                )
            del self.jobs[training.name]

    def list_training_jobs(self, body: Body) -> Body:
        """Return a page of trainings, the newest first.

        StatusEquals filters after paging, as SageMaker's does: a page may be empty and have a next one.
        """
        with self._lifecycle.lock:
            jobs = [job for job in self.jobs.values() if _matches(job, body)]
        key = "name" if body.get("SortBy") == "Name" else "created"
        jobs.sort(key=lambda job: getattr(job, key), reverse=body.get("SortOrder", "Descending") == "Descending")
        start = int(body.get("NextToken", 0))
        stop = start + body.get("MaxResults", 10)
        wanted = body.get("StatusEquals")
        page = [job.brief() for job in jobs[start:stop] if wanted in (None, job.status)]
        answer: Body = {"TrainingJobSummaries": page}
        if stop < len(jobs):
            answer["NextToken"] = str(stop)
        return answer

    def search(self, body: Body) -> Body:
        """Return a page of whole trainings that fit all filters, which may ask for equal values."""
        if body.get("Resource") != "TrainingJob":
            raise validation_error(f"the local cloud searches no {body.get('Resource')}")
        expression = body.get("SearchExpression", {})
        filters = expression.get("Filters", [])
        if set(expression) - {"Filters"} or any(each.get("Operator", "Equals") != "Equals" for each in filters):
            raise validation_error("the local cloud searches by Filters with the Operator Equals")
        with self._lifecycle.lock:
            jobs = [job.describe() for job in sorted(self.jobs.values(), key=lambda job: job.created, reverse=True)]
        found = [job for job in jobs if all(str(job.get(each["Name"])) == each.get("Value") for each in filters)]
        start = int(body.get("NextToken", 0))
        stop = start + body.get("MaxResults", 10)
        answer: Body = {
            "Results": [{"TrainingJob": job} for job in found[start:stop]],
            "TotalHits": {"Value": len(found)},
        }
        if stop < len(found):
            answer["NextToken"] = str(stop)
        return answer

    def list_training_plans(self, _: Body) -> Body:
        """Return the account's training plans: none, as they cannot be bought here."""
        return {"TrainingPlanSummaries": []}

    def create_hyper_parameter_tuning_job(self, body: Body) -> Body:
        """Refuse a tuning job: its trainings would not run here, and nobody is to think that they do."""
        name = body.get("HyperParameterTuningJobName", "")
        raise AwsError("UnsupportedOperation", f"the local cloud runs no hyperparameter tuning jobs, such as {name}")

    # Tags

    def list_tags(self, body: Body) -> Body:
        tags = self._tagged(body["ResourceArn"]).tags
        return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}

    def add_tags(self, body: Body) -> Body:
        self._tagged(body["ResourceArn"]).tags.update({tag["Key"]: tag["Value"] for tag in body["Tags"]})
        return self.list_tags(body)

    def delete_tags(self, body: Body) -> None:
        tags = self._tagged(body["ResourceArn"]).tags
        for key in body["TagKeys"]:
            tags.pop(key, None)

    def _tagged(self, arn: str) -> Training:
        """Return the training of an ARN, to read or change its tags."""
        return self._job({"TrainingJobName": arn.rpartition("/")[2]})

    def _job(self, body: Body) -> Training:
        training = self.jobs.get(body.get("TrainingJobName", ""))
        if training is None:
            raise validation_error("Requested resource not found.")
        return training


def _matches(job: Training, body: Body) -> bool:
    """Say whether a training matches the filters of ListTrainingJobs, but for its status."""
    bounds = (
        job.created > body.get("CreationTimeAfter", float("-inf")),
        job.created < body.get("CreationTimeBefore", float("inf")),
        job.modified > body.get("LastModifiedTimeAfter", float("-inf")),
        job.modified < body.get("LastModifiedTimeBefore", float("inf")),
    )
    return all(bounds) and body.get("NameContains", "").lower() in job.name.lower()
