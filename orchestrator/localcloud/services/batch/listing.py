"""ListJobs: which jobs a request means, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch.jobs import STATES
from orchestrator.localcloud.services.batch.resources import refuse
from orchestrator.localcloud.services.batch.retry import matches

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.batch.jobs import Job


def page(jobs: list[Job], body: dict[str, Any]) -> dict[str, Any]:
    """At most 1,000 jobs, 100 with a filter. Without a status only those that run; a filter ignores the status."""
    fits = _filter(body) if body.get("filters") and "arrayJobId" not in body else _status(body)
    most = min(body.get("maxResults") or 1000, 100 if body.get("filters") else 1000)
    start = _position(body.get("nextToken"))
    found: list[dict[str, Any]] = []
    for position in range(start, len(jobs)):
        if len(found) == most:
            return {"jobSummaryList": found, "nextToken": str(position)}
        if fits(jobs[position]):
            found.append(jobs[position].brief())
    return {"jobSummaryList": found}


def _status(body: dict[str, Any]) -> Callable[[Job], bool]:
    status = body.get("jobStatus", "RUNNING")
    if status not in STATES:
        raise refuse(f"Job status is not one of {' | '.join(STATES)}")
    return lambda job: job.status == status


def _filter(body: dict[str, Any]) -> Callable[[Job], bool]:
    if len(body["filters"]) > 1:
        raise refuse("Only one filter can be used at a time")
    name, values = body["filters"][0]["name"], body["filters"][0]["values"]
    if name == "JOB_NAME":
        return lambda job: any(matches(value, job.spec.name) for value in values)
    if name == "JOB_DEFINITION":
        return lambda job: any(matches(value, _definition(job, value)) for value in values)
    if name == "BEFORE_CREATED_AT":
        return lambda job: job.created < int(values[0])
    if name == "AFTER_CREATED_AT":
        return lambda job: job.created > int(values[0])
    raise refuse(f"Filter {name} is not supported")


def _definition(job: Job, value: str) -> str:
    """A pattern without a revision means every revision."""
    full = job.spec.definition.rpartition("/")[2]
    return full if ":" in value else job.spec.definition_name


def _position(token: str | None) -> int:
    if token is None:
        return 0
    if not token.isdecimal():
        raise refuse("Invalid nextToken")
    return int(token)
