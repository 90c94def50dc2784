"""ListJobs: which jobs a request means, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch.jobs import STATES
from orchestrator.localcloud.services.batch.resources import refusal
from orchestrator.localcloud.services.batch.retry import matches

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.batch.jobs import Job

_MOST = 1000
_MOST_FILTERED = 100


def page(jobs: list[Job], body: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the jobs that a request means: at most 1,000 jobs, or 100 with a filter.

    Without a status only jobs that run are meant. A filter ignores the status.
    """
    uses_filter = body.get("filters") and "arrayJobId" not in body
    is_meant = _by_filter(body) if uses_filter else _by_status(body)
    most = _MOST_FILTERED if body.get("filters") else _MOST
    most = min(body.get("maxResults") or _MOST, most)
    start = _position(body.get("nextToken"))
    found: list[dict[str, Any]] = []
    for position in range(start, len(jobs)):
        if len(found) == most:
            return {"jobSummaryList": found, "nextToken": str(position)}
        if is_meant(jobs[position]):
            found.append(jobs[position].brief())
    return {"jobSummaryList": found}


def _by_status(body: dict[str, Any]) -> Callable[[Job], bool]:
    status = body.get("jobStatus", "RUNNING")
    if status not in STATES:
        raise refusal(f"Job status is not one of {' | '.join(STATES)}")
    return lambda job: job.status == status


def _by_filter(body: dict[str, Any]) -> Callable[[Job], bool]:
    if len(body["filters"]) > 1:
        raise refusal("Only one filter can be used at a time")
    name, values = body["filters"][0]["name"], body["filters"][0]["values"]
    if name == "JOB_NAME":
        return lambda job: any(matches(value, job.spec.name) for value in values)
    if name == "JOB_DEFINITION":
        return lambda job: any(matches(value, _definition(job, value)) for value in values)
    if name == "BEFORE_CREATED_AT":
        return lambda job: job.created < int(values[0])
    if name == "AFTER_CREATED_AT":
        return lambda job: job.created > int(values[0])
    raise refusal(f"Filter {name} is not supported")


def _definition(job: Job, pattern: str) -> str:
    """Return what to compare with a pattern: the definition's name alone when the pattern has no revision."""
    full = job.spec.definition.rpartition("/")[2]
    return full if ":" in pattern else job.spec.definition_name


def _position(token: str | None) -> int:
    if token is None:
        return 0
    if not token.isdecimal():
        raise refusal("Invalid nextToken")
    return int(token)
