"""Array jobs that nobody waits for are found in our queues; what may be somebody's is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.aws.s3 import Stored
from orchestrator.runs.ending.stray_arrays import find_arrays, queues
from tests.runs.bench import plan

if TYPE_CHECKING:
    from orchestrator.runs.ending.stray_arrays import StrayArray
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk


@pytest.fixture
def anchor(desk: Desk) -> Anchor:
    """A run whose tasks wait."""
    return desk.submit(desk.anchor(plan(tasks=3)))


def strays(desk: Desk, *, stop: bool = False) -> list[StrayArray]:
    return find_arrays(desk.cloud(), ["sweep"], stop=stop)[0]


def test_an_array_of_a_live_run_is_none(desk: Desk, anchor: Anchor) -> None:
    assert strays(desk) == []
    desk.retry(desk.submit(desk.anchor(name="other")), "")
    assert strays(desk, stop=True) == []
    assert desk.batch.calls["terminate"] == 0
    assert anchor.keys.anchor in desk.bucket.objects


def test_one_without_a_run_is_found_and_stopped_when_asked(desk: Desk, anchor: Anchor) -> None:
    del desk.bucket.objects[anchor.keys.anchor]
    (stray,) = strays(desk)
    assert (stray.array, stray.waiting, stray.running) == ("nightly-s1-a1", 3, 0)
    assert (stray.why, stray.stopped) == ("there is no run 'nightly'", False)
    assert desk.batch.calls["terminate"] == 0
    (stray,) = strays(desk, stop=True)
    assert stray.stopped
    assert desk.batch.jobs[0].status == "FAILED"
    assert strays(desk) == []


def test_one_that_a_cancel_has_left_is_found(desk: Desk, anchor: Anchor) -> None:
    desk.cancel(anchor)
    desk.batch.jobs[0].statuses[:] = ["RUNNING"] * 3
    (stray,) = strays(desk)
    assert (stray.why, stray.running) == ("run 'nightly' was cancelled, and has ended", 3)


def test_one_of_a_submission_that_there_is_not_is_found(desk: Desk, anchor: Anchor) -> None:
    del desk.bucket.objects[anchor.keys.submission(1)]
    assert [one.why for one in strays(desk)] == ["run 'nightly' has no submission 1"]


def test_one_of_another_bucket_is_counted_and_left_alone(desk: Desk, anchor: Anchor) -> None:
    del desk.bucket.objects[anchor.keys.anchor]
    desk.batch.jobs[0].manifest = "s3://theirs/runs/nightly/submissions/1/1.manifest"
    assert find_arrays(desk.cloud(), ["sweep"], stop=True) == ([], 1)


@pytest.mark.parametrize("manifest", ["", "hello", "s3://control/elsewhere", "s3://control"])
def test_another_job_in_our_queue_is_nobody_s_business(desk: Desk, anchor: Anchor, manifest: str) -> None:
    del desk.bucket.objects[anchor.keys.anchor]
    desk.batch.jobs[0].manifest = manifest
    assert find_arrays(desk.cloud(), ["sweep"], stop=True) == ([], 0)


def test_one_of_a_run_that_cannot_be_understood_is_left_alone(desk: Desk, anchor: Anchor) -> None:
    desk.bucket.objects[anchor.keys.anchor] = Stored(b"{", '"spoiled"')
    assert strays(desk, stop=True) == []


def test_a_queue_that_there_is_not_has_no_arrays(desk: Desk, anchor: Anchor) -> None:
    del desk.bucket.objects[anchor.keys.anchor]
    assert [one.queue for one in find_arrays(desk.cloud(), ["nobodys", "sweep"], stop=False)[0]] == ["sweep"]


def test_the_queues_of_all_regions_are_looked_in(desk: Desk) -> None:
    cloud = desk.cloud()
    cloud.account = replace(cloud.account, lane_queue="sweep-{region}")
    assert queues(cloud, ["eu-west-1"]) == (["sweep", "sweep-eu-west-1"], "")
    for pattern in ("sweep-{instance_type}", "sweep-{platform}-{region}"):
        cloud.account = replace(cloud.account, lane_queue=pattern)
        names, left_out = queues(cloud, ["eu-west-1"])
        assert names == ["sweep"]
        assert f"{pattern} are not listed" in left_out
