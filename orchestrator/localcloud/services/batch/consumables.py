"""Consumable resources: what jobs need besides a machine, such as licences, or our slots in a Region.

A job takes all that it needs when it goes to STARTING, and gives it back when its attempt is over; while something is
lacking it waits in RUNNABLE, at the head of its queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch.resources import refuse
from orchestrator.localcloud.services.batch.retry import matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from orchestrator.localcloud.services.batch.jobs import Job

Body = dict[str, Any]

MOST_PER_JOB = 5
_PAGE = 100


@dataclass(eq=False)
class Consumable:
    name: str
    arn: str
    replenishable: bool
    total: int
    created: int
    tags: dict[str, str]
    in_use: int = 0

    @property
    def available(self) -> int:
        return self.total - self.in_use

    def take(self, quantity: int) -> None:
        """What is not replenishable is gone at once."""
        if self.replenishable:
            self.in_use += quantity
        else:
            self.total -= quantity

    def give_back(self, quantity: int) -> None:
        if self.replenishable:
            self.in_use -= quantity

    def brief(self) -> Body:
        return {
            "consumableResourceName": self.name,
            "consumableResourceArn": self.arn,
            "totalQuantity": self.total,
            "inUseQuantity": self.in_use,
            "resourceType": "REPLENISHABLE" if self.replenishable else "NON_REPLENISHABLE",
        }

    def describe(self) -> Body:
        more = {"availableQuantity": max(0, self.available), "createdAt": self.created, "tags": self.tags}
        return {**self.brief(), **more}


@dataclass
class Consumables:
    """Of one Region. `arn` makes the ARN of a resource there."""

    arn: Callable[[str], str]
    known: dict[str, Consumable] = field(default_factory=dict)
    _tokens: set[tuple[str, ...]] = field(default_factory=set)

    def create(self, body: Body, now: int) -> Consumable:
        name, kind = body["consumableResourceName"], body.get("resourceType", "REPLENISHABLE")
        if name in self.known:
            raise refuse(f"Object already exists: {name}")
        if kind not in ("REPLENISHABLE", "NON_REPLENISHABLE"):
            raise refuse(f"resourceType must be REPLENISHABLE or NON_REPLENISHABLE, not {kind}")
        total = _quantity(body.get("totalQuantity", 0))
        arn = self.arn(f"consumable-resource/{name}")
        self.known[name] = Consumable(name, arn, kind == "REPLENISHABLE", total, now, dict(body.get("tags", {})))
        return self.known[name]

    def find(self, key: str) -> Consumable:
        found = self.known.get(key.rpartition("/")[2])
        if found is None:
            raise refuse(f"Consumable resource {key} does not exist")
        return found

    def update(self, body: Body) -> Consumable:
        """Twice with one clientToken changes it once."""
        found = self.find(body["consumableResource"])
        operation, quantity = body.get("operation", "SET"), _quantity(body.get("quantity", 0))
        request = (body.get("clientToken", ""), found.name, operation, str(quantity))
        if request[0] and request in self._tokens:
            return found
        changed = {"SET": quantity, "ADD": found.total + quantity, "REMOVE": found.total - quantity}
        if operation not in changed:
            raise refuse(f"operation must be SET, ADD or REMOVE, not {operation}")
        found.total = _quantity(changed[operation])
        self._tokens.add(request)
        return found

    def delete(self, key: str) -> None:
        del self.known[self.find(key).name]

    def listed(self, body: Body) -> Body:
        fits = [each.brief() for each in self.known.values() if _matches(body, CONSUMABLE_RESOURCE_NAME=each.name)]
        return page("consumableResources", fits, body)

    # What jobs need

    def needs(self, properties: Body) -> dict[str, int]:
        """By name, from consumableResourceProperties; what does not exist is refused."""
        wanted = properties.get("consumableResourceList", [])
        if len(wanted) > MOST_PER_JOB:
            raise refuse(f"A job can require at most {MOST_PER_JOB} consumable resources")
        return {self.find(each["consumableResource"]).name: _quantity(each["quantity"]) for each in wanted}

    def suffice(self, needs: Mapping[str, int]) -> bool:
        """What has been deleted meanwhile is never to be had."""
        return all(name in self.known and self.known[name].available >= count for name, count in needs.items())

    def take(self, needs: Mapping[str, int]) -> None:
        for name, count in needs.items():
            self.known[name].take(count)

    def give_back(self, needs: Mapping[str, int]) -> None:
        for name, count in needs.items():
            if name in self.known:
                self.known[name].give_back(count)


def jobs_needing(resource: Consumable, jobs: Iterable[Job], body: Body) -> Body:
    """ListJobsByConsumableResource."""
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
    return page("jobs", found, body)


def page(member: str, everything: list[Body], body: Body) -> Body:
    token = body.get("nextToken") or "0"
    if not token.isdecimal():
        raise refuse("Invalid nextToken")
    stop = int(token) + min(body.get("maxResults") or _PAGE, _PAGE)
    return {member: everything[int(token) : stop], **({"nextToken": str(stop)} if stop < len(everything) else {})}


def _matches(body: Body, **facts: str) -> bool:
    """All filters must fit; each does with any of its values."""
    for each in body.get("filters", ()):
        if each["name"] not in facts:
            raise refuse(f"Filter {each['name']} is not supported")
        if not any(matches(value, facts[each["name"]]) for value in each["values"]):
            return False
    return True


def _quantity(value: int) -> int:
    if value < 0:
        raise refuse("The quantity of a consumable resource must be non-negative")
    return value
