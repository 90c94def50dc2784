"""Consumable resources: what jobs need besides a machine, such as licences, or our slots in a Region.

A job takes all that it needs when it goes to STARTING, and gives it back when its attempt is over; while something is
lacking it waits in RUNNABLE, at the head of its queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch.resources import refusal
from orchestrator.localcloud.services.batch.retry import matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from orchestrator.localcloud.services.batch.jobs import Job

Body = dict[str, Any]

MOST_PER_JOB = 5
_PAGE = 100


@dataclass(eq=False)
class Consumable:
    """A resource of which there is a quantity."""

    name: str
    arn: str
    replenishable: bool
    """True when jobs give back what they took."""
    total: int
    created: int
    tags: dict[str, str]
    in_use: int = 0

    @property
    def available(self) -> int:
        """The quantity that no job holds. Less than none after the total was set below what is in use."""
        return self.total - self.in_use

    def take(self, quantity: int) -> None:
        """Take a quantity for a job. What is not replenishable is gone at once."""
        if self.replenishable:
            self.in_use += quantity
        else:
            self.total -= quantity

    def give_back(self, quantity: int) -> None:
        """Give back a job's quantity, if the resource is replenishable."""
        if self.replenishable:
            self.in_use -= quantity

    def brief(self) -> Body:
        """Return the resource as ListConsumableResources shows it."""
        return {
            "consumableResourceName": self.name,
            "consumableResourceArn": self.arn,
            "totalQuantity": self.total,
            "inUseQuantity": self.in_use,
            "resourceType": "REPLENISHABLE" if self.replenishable else "NON_REPLENISHABLE",
        }

    def describe(self) -> Body:
        """Return the resource as DescribeConsumableResource shows it."""
        more = {"availableQuantity": max(0, self.available), "createdAt": self.created, "tags": self.tags}
        return {**self.brief(), **more}


@dataclass
class Consumables:
    """Holds the consumable resources of one Region. What takes a key takes a name or an ARN."""

    arn: Callable[[str], str]
    """Makes the ARN of a resource in this Region."""
    known: dict[str, Consumable] = field(default_factory=dict)
    _tokens: set[tuple[str, ...]] = field(default_factory=set)
    """The updates with a clientToken that have been made."""

    def create(self, body: Body, now: int) -> Consumable:
        """Make what CreateConsumableResource asks for, or raise its refusal. `now` is in milliseconds."""
        name, kind = body["consumableResourceName"], body.get("resourceType", "REPLENISHABLE")
        if name in self.known:
            raise refusal(f"Object already exists: {name}")
        if kind not in ("REPLENISHABLE", "NON_REPLENISHABLE"):
            raise refusal(f"resourceType must be REPLENISHABLE or NON_REPLENISHABLE, not {kind}")
        total = _quantity(body.get("totalQuantity", 0))
        arn = self.arn(f"consumable-resource/{name}")
        self.known[name] = Consumable(name, arn, kind == "REPLENISHABLE", total, now, dict(body.get("tags", {})))
        return self.known[name]

    def find(self, key: str) -> Consumable:
        """Return a resource, or raise the refusal of an unknown one."""
        found = self.known.get(key.rpartition("/")[2])
        if found is None:
            raise refusal(f"Consumable resource {key} does not exist")
        return found

    def update(self, body: Body) -> Consumable:
        """Change what UpdateConsumableResource asks to change; a second time with one clientToken changes nothing."""
        found = self.find(body["consumableResource"])
        operation, quantity = body.get("operation", "SET"), _quantity(body.get("quantity", 0))
        request = (body.get("clientToken", ""), found.name, operation, str(quantity))
        if request[0] and request in self._tokens:
            return found
        changed = {"SET": quantity, "ADD": found.total + quantity, "REMOVE": found.total - quantity}
        if operation not in changed:
            raise refusal(f"operation must be SET, ADD or REMOVE, not {operation}")
        found.total = _quantity(changed[operation])
        self._tokens.add(request)
        return found

    def delete(self, key: str) -> None:
        """Delete a resource. Jobs that need it never start."""
        del self.known[self.find(key).name]

    def page(self, body: Body) -> Body:
        """Return a page of the resources that ListConsumableResources asks for."""
        fits = [each.brief() for each in self.known.values() if _matches(body, CONSUMABLE_RESOURCE_NAME=each.name)]
        return _page("consumableResources", fits, body)

    # What jobs need

    def needs(self, properties: Body) -> dict[str, int]:
        """Read from consumableResourceProperties how much a job needs of each resource; refuse what does not exist."""
        wanted = properties.get("consumableResourceList", [])
        if len(wanted) > MOST_PER_JOB:
            raise refusal(f"A job can require at most {MOST_PER_JOB} consumable resources")
        return {self.find(each["consumableResource"]).name: _quantity(each["quantity"]) for each in wanted}

    def suffice(self, needs: Mapping[str, int]) -> bool:
        """Say whether all that a job needs is available. A resource that has been deleted never is."""
        return all(name in self.known and self.known[name].available >= count for name, count in needs.items())

    def take(self, needs: Mapping[str, int]) -> None:
        """Take all that a job needs. Call `suffice` before."""
        for name, count in needs.items():
            self.known[name].take(count)

    def give_back(self, needs: Mapping[str, int]) -> None:
        """Give back what a job took, except to resources that have been deleted."""
        for name, count in needs.items():
            if name in self.known:
                self.known[name].give_back(count)


def jobs_needing(resource: Consumable, jobs: Iterable[Job], body: Body) -> Body:
    """Return a page of the jobs that ListJobsByConsumableResource asks for."""
    found = [
        {
            "jobArn": job.arn,
            "jobQueueArn": job.spec.queue,
            "jobName": job.spec.name,
            "jobDefinitionArn": job.spec.definition,
            "jobStatus": job.status,
            "quantity": job.spec.needs[resource.name],
            "createdAt": job.created,
            "consumableResourceProperties": job.spec.body["consumableResourceProperties"],
            **({"startedAt": job.started} if job.started else {}),
            **({"statusReason": job.status_reason} if job.status_reason else {}),
        }
        for job in jobs
        if resource.name in job.spec.needs and _matches(body, JOB_STATUS=job.status, JOB_NAME=job.spec.name)
    ]
    return _page("jobs", found, body)


def _page(member: str, everything: list[Body], body: Body) -> Body:
    """Return the page that a request's nextToken means, under the member's name."""
    token = body.get("nextToken") or "0"
    if not token.isdecimal():
        raise refusal("Invalid nextToken")
    stop = int(token) + min(body.get("maxResults") or _PAGE, _PAGE)
    answer: Body = {member: everything[int(token) : stop]}
    if stop < len(everything):
        answer["nextToken"] = str(stop)
    return answer


def _matches(body: Body, **facts: str) -> bool:
    """Say whether all filters of a request match; one matches when any of its values does."""
    for each in body.get("filters", ()):
        if each["name"] not in facts:
            raise refusal(f"Filter {each['name']} is not supported")
        if not any(matches(value, facts[each["name"]]) for value in each["values"]):
            return False
    return True


def _quantity(value: int) -> int:
    if value < 0:
        raise refusal("The quantity of a consumable resource must be non-negative")
    return value
