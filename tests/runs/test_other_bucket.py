"""Settings with another bucket than a run's: whoever looks there sees nothing, which proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import UsageError
from orchestrator.runs.ending.cancel import cancel
from orchestrator.runs.known.sync import sync
from orchestrator.runs.run import Run
from orchestrator.runs.runs import Runs
from orchestrator.runs.sending.retry import retry
from tests.launcher.fakes import RUNNING, Bucket, Life
from tests.runs.bench import ACCOUNT, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk, FakeCloud


@pytest.fixture
def anchor(desk: Desk) -> Anchor:
    """A run whose first training runs."""
    desk.platform.lives = [Life(looks=[RUNNING])]
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    driver = desk.launcher(anchor, 0)
    driver._load()
    for _ in range(3):
        driver._take_step()
    assert desk.platform.alive
    return anchor


@pytest.fixture
def elsewhere(desk: Desk) -> FakeCloud:
    """The cloud as settings with another bucket see it: there is one of that name, and it is empty."""
    cloud = desk.cloud(bucket="other")
    bucket = Bucket()
    bucket.bucket = "other"
    cloud.__dict__["s3"] = bucket
    return cloud


@pytest.mark.parametrize(
    "command",
    [
        lambda anchor, desk, cloud: cancel(anchor, desk.ledger(), cloud, desk.time.sleep),
        lambda anchor, desk, cloud: retry(anchor, None, desk.ledger(), cloud),
        lambda anchor, desk, cloud: sync(anchor, desk.ledger(), cloud),
        lambda anchor, desk, cloud: Run(anchor, desk.ledger(), lambda: cloud).sync_as_far_as_possible(),
    ],
    ids=["cancel", "retry", "sync", "looking"],
)
def test_nothing_is_done_or_said_of_a_run_that_is_not_in_the_bucket(
    desk: Desk, anchor: Anchor, elsewhere: FakeCloud, command: Callable[[Anchor, Desk, FakeCloud], object]
) -> None:
    desk.sync(anchor)
    before = desk.states(anchor)
    with pytest.raises(UsageError, match=r"s3://other: .*'nightly'.* is not in this bucket .*SWEEP_BUCKET"):
        command(anchor, desk, elsewhere)
    assert elsewhere.s3.objects == {}
    assert desk.states(anchor) == before
    assert desk.platform.alive


def test_a_run_known_from_another_bucket_is_not_opened_and_both_are_named(
    desk: Desk, anchor: Anchor, elsewhere: FakeCloud
) -> None:
    runs = Runs(desk.ledger(), lambda _: elsewhere, "other")
    for name in (anchor.name, None):
        with pytest.raises(UsageError, match=r"'nightly' is in the bucket control, .* other \(SWEEP_BUCKET=control"):
            runs.open(name)
    assert elsewhere.s3.objects == {}


def test_another_run_of_the_name_in_the_other_bucket_takes_nothing_from_ours(
    desk: Desk, anchor: Anchor, elsewhere: FakeCloud
) -> None:
    theirs = desk.anchor(plan(tasks=5, name="theirs"), owner="bob")
    elsewhere.s3.put_once(theirs.keys.anchor, b"{")
    with pytest.raises(UsageError, match="SWEEP_BUCKET=control"):
        Runs(desk.ledger(), lambda _: elsewhere, "other").open(anchor.name)
    assert desk.ledger().anchor(anchor.name) == anchor


def test_a_bucket_that_was_copied_whole_is_the_run_s_from_now_on(
    desk: Desk, anchor: Anchor, elsewhere: FakeCloud
) -> None:
    elsewhere.s3.objects.update(desk.bucket.objects)
    runs = Runs(desk.ledger(), lambda _: elsewhere, "other")
    assert runs.open(anchor.name).sync() >= 0
    assert desk.ledger().bucket(anchor.name) == "other"


def test_a_name_that_is_taken_in_another_bucket_is_not_made_a_second_time(
    desk: Desk, anchor: Anchor, elsewhere: FakeCloud
) -> None:
    runs = Runs(desk.ledger(), lambda _: elsewhere, "other")
    with pytest.raises(UsageError, match="SWEEP_BUCKET=control"):
        runs.make(anchor, lambda _: None, lambda _: "", again=False)
    assert elsewhere.s3.objects == {}
    assert desk.ledger().bucket(anchor.name) == ACCOUNT.bucket


def test_a_run_of_another_bucket_is_listed_with_what_is_known_of_it(
    desk: Desk, anchor: Anchor, elsewhere: FakeCloud
) -> None:
    desk.sync(anchor)
    runs = Runs(desk.ledger(), lambda _: elsewhere, "other")
    assert [runs.listed(name).status().state for name in runs.names()] == ["running"]
