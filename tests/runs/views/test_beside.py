"""What a run costs beside its trainings: by hand, from what its trainings took and what its buckets hold."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from orchestrator.aws.s3 import Listed
from orchestrator.errors import AccessDenied
from orchestrator.plan.copy import Copy
from orchestrator.runs.known.rows import Known
from orchestrator.runs.views import beside
from orchestrator.runs.views.beside import GB, Stored, costs_beside
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Purchase
from tests.runs.bench import plan

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud

LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)


class Bucket:
    def __init__(self, sizes: list[int]) -> None:
        self.sizes = sizes

    def list(self, prefix: str) -> list[Listed]:
        if not self.sizes:
            raise AccessDenied("may not list")
        return [Listed(f"{prefix}{number}", "etag", size) for number, size in enumerate(self.sizes)]


def cloud_of(control: list[int], data: list[int]) -> Cloud:
    return cast("Cloud", SimpleNamespace(s3=Bucket(control), bucket=lambda _: Bucket(data)))


def anchor_of(**changes: Any) -> Anchor:
    return Anchor("nightly", replace(plan(tasks=2), **changes), "code", "ada", 1e9)


def task(number: int, *seconds: float) -> Known:
    outcomes = tuple(
        Outcome(n, LANE, f"t-{number}-{n}", TaskState.DONE, seconds=each, instances=4)
        for n, each in enumerate(seconds, 1)
    )
    return Known("etag", Result(number, "key", TaskState.DONE, outcomes=outcomes), TaskState.DONE)


def test_one_launcher_watches_a_training_of_however_many_instances() -> None:
    found = costs_beside(anchor_of(), [task(0, 1800.0, 1800.0), task(1, 3600.0)], None)
    assert found.launcher_hours == 2.0
    assert found.launchers_usd == pytest.approx(2 * 0.0124)
    assert found.stored is None, "nobody has looked"


def test_all_that_lies_in_its_buckets_is_counted_with_the_copies_that_it_made() -> None:
    anchor = anchor_of()
    size = anchor.plan.datasets[0].bytes
    copy = Copy(0, "us-east-1", "eu-west-1", "s3://a/", "s3://b/", usd=0.02, hours=0.1)
    found = costs_beside(replace(anchor, plan=replace(anchor.plan, copies=(copy,))), [], cloud_of([GB], [GB, GB]))
    regions = len({region for _, region in anchor.plan.sites})
    total = GB + regions * 2 * GB + size
    assert (found.copies, found.copies_usd) == (1, 0.02)
    assert found.stored == Stored(1 + 2 * regions, total, pytest.approx(total / GB * 0.023), is_whole=True)


def test_what_may_not_be_listed_is_not_known() -> None:
    assert costs_beside(anchor_of(), [], cloud_of([GB], [])).stored is None


def test_a_bucket_with_too_many_objects_is_counted_in_part_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "MOST_LISTED", 2)
    stored = costs_beside(anchor_of(), [], cloud_of([5, 5, 5], [5])).stored
    assert stored is not None
    assert not stored.is_whole
