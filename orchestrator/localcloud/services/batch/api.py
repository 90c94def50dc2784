"""The operations of AWS Batch in one Region."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch import consumables, dependencies, list_jobs, submit_job
from orchestrator.localcloud.services.batch.consumables import Consumables
from orchestrator.localcloud.services.batch.resources import Resources, named, refusal
from orchestrator.localcloud.services.batch.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.batch.jobs import Job
    from orchestrator.localcloud.site import Site

Body = dict[str, Any]

LONGEST_REASON = 1024
MOST_AT_ONCE = 50


class Batch:
    """AWS Batch in one Region. Each operation is a method: it has boto3's name, takes a request, returns an answer.

    A method raises AwsError to refuse a request.
    """

    def __init__(self, site: Site, region: str) -> None:
        self._site = site
        self._arn = partial(site.arn, "batch", region)
        self.resources = Resources(self._arn)
        self.consumables = Consumables(self._arn)
        self.scheduler = Scheduler(site, region, self.resources, self.consumables)
        self.jobs: dict[str, Job] = {}
        """All jobs by their ids, the children of arrays too."""

    # Jobs

    def submit_job(self, body: Body) -> Body:
        with self.scheduler.lock:
            spec = submit_job.make_spec(body, self.resources, self.consumables)
            job = submit_job.make_job(spec, self._arn("job/"), self._site.clock.millis())
            waiting = dependencies.resolve(job, body.get("dependsOn", []), self.jobs)
            self.jobs[job.id] = job
            self.jobs.update({child.id: child for child in job.children})
            if submit_job.overrides_are_too_long(body):
                self.scheduler.fail(job, submit_job.OVERRIDES_TOO_LONG)
            else:
                self.scheduler.enqueue(job, waiting)
            return {"jobName": spec.name, "jobId": job.id, "jobArn": job.arn}

    def describe_jobs(self, body: Body) -> Body:
        ids = body["jobs"]
        if len(ids) > 100:
            raise refusal("Maximum number of jobs supported is 100")
        with self.scheduler.lock:
            found = (self.jobs.get(key.rpartition("/")[2]) for key in ids)
            return {"jobs": [job.describe() for job in found if job]}

    def list_jobs(self, body: Body) -> Body:
        with self.scheduler.lock:
            return list_jobs.page(self._jobs_meant(body), body)

    def cancel_job(self, body: Body) -> None:
        self._end_each([body["jobId"]], body, self.scheduler.cancel)

    def terminate_job(self, body: Body) -> None:
        self._end_each([body["jobId"]], body, self.scheduler.terminate)

    def cancel_jobs(self, body: Body) -> Body:
        return self._end_each(body["jobs"], body, self.scheduler.cancel)

    def terminate_jobs(self, body: Body) -> Body:
        return self._end_each(body["jobs"], body, self.scheduler.terminate)

    def _end_each(self, ids: list[str], body: Body, end: Callable[[Job, str], None]) -> Body:
        """End jobs for the reason that a request gives. Jobs that cannot be found count as ended."""
        reason = body.get("reason")
        if not reason:
            raise refusal("'reason' is a required field (cannot be an empty string)")
        if len(reason) > LONGEST_REASON:
            raise refusal(f"'reason' must be at most {LONGEST_REASON} characters")
        if len(ids) > MOST_AT_ONCE:
            raise refusal(f"Maximum number of jobs supported is {MOST_AT_ONCE}")
        with self.scheduler.lock:
            for job_id in ids:
                if job_id in self.jobs:
                    end(self.jobs[job_id], reason)
        return {"successful": ids, "errors": []}

    def _jobs_meant(self, body: Body) -> list[Job]:
        """Return an array's children in their order, or the jobs and arrays of a queue, the newest first."""
        if parent := body.get("arrayJobId"):
            if parent not in self.jobs:
                raise refusal(f"Job {parent} does not exist")
            return self.jobs[parent].children
        if "jobQueue" not in body:
            raise refusal("One of jobQueue, arrayJobId or multiNodeJobId must be given")
        queue = self.resources.queue(body["jobQueue"]).arn
        return [job for job in reversed(self.jobs.values()) if job.parent is None and job.spec.queue == queue]

    # Compute environments

    def create_compute_environment(self, body: Body) -> Body:
        with self.scheduler.lock:
            made = self.resources.create_environment(body)
        return {"computeEnvironmentName": made.name, "computeEnvironmentArn": made.arn}

    def describe_compute_environments(self, body: Body) -> Body:
        found = named(self.resources.environments.values(), body.get("computeEnvironments"))
        return {"computeEnvironments": [each.describe() for each in found]}

    def update_compute_environment(self, body: Body) -> Body:
        with self.scheduler.lock:
            changed = self.resources.update_environment(body)
            self.scheduler.dispatch()
        return {"computeEnvironmentName": changed.name, "computeEnvironmentArn": changed.arn}

    def delete_compute_environment(self, body: Body) -> None:
        with self.scheduler.lock:
            self.resources.delete_environment(body["computeEnvironment"])

    # Queues

    def create_job_queue(self, body: Body) -> Body:
        with self.scheduler.lock:
            made = self.resources.create_queue(body)
        return {"jobQueueName": made.name, "jobQueueArn": made.arn}

    def describe_job_queues(self, body: Body) -> Body:
        found = named(self.resources.queues.values(), body.get("jobQueues"))
        return {"jobQueues": [each.describe() for each in found]}

    def update_job_queue(self, body: Body) -> Body:
        with self.scheduler.lock:
            changed = self.resources.update_queue(body)
            self.scheduler.dispatch()
        return {"jobQueueName": changed.name, "jobQueueArn": changed.arn}

    def delete_job_queue(self, body: Body) -> None:
        with self.scheduler.lock:
            self.resources.queues.pop(self.resources.queue(body["jobQueue"]).name)

    # Job definitions

    def register_job_definition(self, body: Body) -> Body:
        with self.scheduler.lock:
            made = self.resources.register(body)
        return {"jobDefinitionName": made.name, "jobDefinitionArn": made.arn, "revision": made.revision}

    def describe_job_definitions(self, body: Body) -> Body:
        return {"jobDefinitions": [each.describe() for each in self.resources.list_definitions(body)]}

    def deregister_job_definition(self, body: Body) -> None:
        with self.scheduler.lock:
            self.resources.deregister(body["jobDefinition"])

    # Consumable resources

    def create_consumable_resource(self, body: Body) -> Body:
        with self.scheduler.lock:
            made = self.consumables.create(body, self._site.clock.millis())
        return {"consumableResourceName": made.name, "consumableResourceArn": made.arn}

    def describe_consumable_resource(self, body: Body) -> Body:
        with self.scheduler.lock:
            return self.consumables.find(body["consumableResource"]).describe()

    def update_consumable_resource(self, body: Body) -> Body:
        with self.scheduler.lock:
            changed = self.consumables.update(body)
            self.scheduler.dispatch()
        brief = changed.brief()
        return {key: brief[key] for key in ("consumableResourceName", "consumableResourceArn", "totalQuantity")}

    def delete_consumable_resource(self, body: Body) -> None:
        with self.scheduler.lock:
            self.consumables.delete(body["consumableResource"])

    def list_consumable_resources(self, body: Body) -> Body:
        with self.scheduler.lock:
            return self.consumables.page(body)

    def list_jobs_by_consumable_resource(self, body: Body) -> Body:
        with self.scheduler.lock:
            resource = self.consumables.find(body["consumableResource"])
            ordinary = (job for job in self.jobs.values() if not job.is_array)
            return consumables.jobs_needing(resource, ordinary, body)

    # Tags

    def list_tags_for_resource(self, body: Body) -> Body:
        return {"tags": self._tags_of(body["resourceArn"])}

    def tag_resource(self, body: Body) -> None:
        self._tags_of(body["resourceArn"]).update(body["tags"])

    def untag_resource(self, body: Body) -> None:
        for key in body["tagKeys"]:
            self._tags_of(body["resourceArn"]).pop(key, None)

    def _tags_of(self, arn: str) -> dict[str, str]:
        """Return the tags of a resource, to be read or changed in place; they lie where its request put them."""
        kind, _, name = arn.split(":", 5)[5].partition("/")
        if kind == "consumable-resource":
            return self.consumables.find(name).tags
        if kind == "job" and name in self.jobs:
            body = self.jobs[name].spec.body
        elif kind == "job-queue":
            body = self.resources.queue(name).body
        elif kind == "compute-environment":
            body = self.resources.environment(name).body
        elif kind == "job-definition":
            body = self.resources.definition(name).body
        else:
            raise refusal(f"Resource {arn} does not exist")
        tags: dict[str, str] = body.setdefault("tags", {})
        return tags
