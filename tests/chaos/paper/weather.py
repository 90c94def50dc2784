"""What goes wrong with calls to the paper AWS, and how often. Each fault that comes is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError, ConnectionClosedError, EndpointConnectionError

if TYPE_CHECKING:
    from random import Random

CALLS = ("*", "s3:*", "s3:put_object", "s3:get_object", "s3:list_objects_v2", "batch:*", "batch:submit_job",
         "batch:terminate_job", "sagemaker:*", "sagemaker:create_training_job", "sagemaker:describe_training_job",
         "sagemaker:stop_training_job")  # fmt: skip
KINDS = ("throttle", "error", "lost", "slow", "stale", "down", "quota")


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong for a while."""

    kind: str
    what: str
    percent: float
    region: str = "*"

    def concerns(self, call: str, region: str) -> bool:
        return fnmatchcase(call, self.what) and fnmatchcase(region, self.region)


@dataclass
class Weather:
    """The faults that go on."""

    chance: Random
    faults: list[Fault] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)
    """Calls that were hit, by kind."""

    def begin(self, regions: tuple[str, ...]) -> None:
        """Begin up to four faults."""
        for _ in range(self.chance.choice([1, 1, 2, 3, 4])):
            kind = self.chance.choice(KINDS)
            what = {"quota": "sagemaker:create_training_job", "stale": "sagemaker:describe_training_job"}.get(kind)
            region = self.chance.choice(regions) if kind in ("down", "quota") else "*"
            percent = 100.0 if kind == "down" else self.chance.choice([10.0, 30.0, 50.0])
            self.faults.append(
                Fault(kind, what or self.chance.choice(CALLS if kind != "down" else ("*",)), percent, region)
            )

    def end(self) -> None:
        self.faults.clear()

    def hits(self, kind: str, call: str, region: str) -> bool:
        """Return whether a fault of this kind hits this call."""
        for fault in self.faults:
            if fault.kind == kind and fault.concerns(call, region) and self.chance.random() * 100 < fault.percent:
                self.struck[kind] += 1
                return True
        return False

    def raise_before(self, call: str, region: str) -> None:
        """Raise the error of a call that AWS does not do."""
        if self.hits("down", call, region):
            raise EndpointConnectionError(endpoint_url=f"https://{region}")
        if self.hits("throttle", call, region):
            raise refusal("ThrottlingException", "Rate exceeded", 400)
        if self.hits("error", call, region):
            raise refusal("InternalFailure", "An internal error occurred", 500)
        if self.hits("quota", call, region):
            raise refusal("ResourceLimitExceeded", "The account-level service limit is 0 Instances", 400)

    def raise_after(self, call: str, region: str) -> None:
        """Raise what a caller sees whose call is done, and its answer lost."""
        if self.hits("lost", call, region):
            raise ConnectionClosedError(endpoint_url=f"https://{region}")


def refusal(code: str, message: str, status: int = 400) -> ClientError:
    """Return AWS's no, as botocore raises it."""
    return ClientError(
        {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]
        "Call",
    )
