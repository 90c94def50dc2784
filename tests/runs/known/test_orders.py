"""What was ordered of a run cannot be understood: the run is shown as it was last known, and nothing is poisoned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from orchestrator.aws.s3 import Stored
from orchestrator.db.engine import writing
from orchestrator.db.tables import runs as run_rows
from orchestrator.db.tables import submissions as submission_rows
from orchestrator.errors import Damaged, UsageError
from orchestrator.runs.known.damage import Damage
from orchestrator.runs.run import Run
from orchestrator.runs.runs import Runs
from orchestrator.wire.result import TaskState
from tests.runs.bench import ACCOUNT, plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk


@pytest.fixture
def anchor(desk: Desk) -> Anchor:
    """A run of two tasks of which the first is done."""
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    desk.launch(anchor, 0)
    return anchor


def spoil(desk: Desk, key: str, body: Any) -> None:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    desk.bucket.objects[key] = Stored(text, f'"spoiled {text!r}"')


def opened(desk: Desk, anchor: Anchor, machine: str = "ours") -> Run:
    desk.ledger(machine).remember(anchor, ACCOUNT)
    return Run(anchor, desk.ledger(machine), desk.cloud)


def assert_shown_with_what_is_wrong(run: Run, key: str, words: str) -> None:
    run.sync_as_far_as_possible()
    status = run.status()
    assert (status.counts[TaskState.DONE], status.counts[TaskState.PENDING]) == (1, 1)
    assert status.usd > 0
    with pytest.raises(Damaged, match=words) as raised:
        run.ledger.damage.check()
    assert key in str(raised.value)
    assert "retry --task" not in str(raised.value)


@pytest.mark.parametrize("machine", ["ours", "theirs"])
@pytest.mark.parametrize("object_name", ["cancel", "submissions/1.json"])
@pytest.mark.parametrize(
    ("version", "words"),
    [(99, "has version 99, .*use the sweep that wrote it"), ([1], "version cannot be"), ("1", "version cannot be"),
     (True, "version cannot be")],
)  # fmt: skip
def test_a_version_that_is_newer_or_none_at_all_leaves_the_run_as_it_was_last_known(
    desk: Desk, anchor: Anchor, machine: str, object_name: str, version: object, words: str
) -> None:
    desk.sync(anchor)
    key = f"{anchor.keys.prefix}{object_name}"
    whole = {"through": 1} if object_name == "cancel" else json.loads(desk.bucket.objects[key].body)
    spoil(desk, key, whole | {"version": version})
    if machine == "ours" and object_name != "cancel":
        opened(desk, anchor).sync()  # submissions never change: what is known is not read again
    else:
        assert_shown_with_what_is_wrong(opened(desk, anchor, machine), key, words)


@pytest.mark.parametrize(
    "marker",
    [{"through": -1, "ended": 0}, {"through": 1, "ended": -1}, {"through": True}, {"through": "1"}, {"through": 1.0}],
)
def test_a_cancel_marker_with_a_wrong_figure_is_named_and_poisons_nothing(
    desk: Desk, anchor: Anchor, marker: dict[str, Any]
) -> None:
    desk.sync(anchor)
    run = opened(desk, anchor)
    spoil(desk, anchor.keys.cancel, {"version": 1, **marker})
    assert_shown_with_what_is_wrong(run, anchor.keys.cancel, "cannot be understood: ValueError: CancelMarker")
    spoil(desk, anchor.keys.cancel, {"version": 1, "through": 1, "ended": 1})
    run.sync()
    assert run.status().cancelled


def test_what_a_database_cannot_understand_of_a_run_is_read_anew(desk: Desk, anchor: Anchor) -> None:
    desk.sync(anchor)
    seen = {"through": -1, "cancel_etag": '"gone"'}
    with writing(desk.ledger().engine) as connection:
        connection.execute(update(run_rows).values(seen=json.dumps(seen), document="{"))
        connection.execute(update(submission_rows).values(document='{"version": "1"}'))
    run = Runs(desk.ledger(), lambda _: desk.cloud(), ACCOUNT.bucket).open(anchor.name)
    assert run.sync() >= 0
    assert run.status().counts[TaskState.DONE] == 1
    assert [one.number for one in run.ledger.submissions(anchor.name)] == [1]
    assert run.ledger.progress(anchor.name).through == 0


def test_a_finished_run_is_shown_with_its_cost_though_a_machine_cannot_read_its_submission(
    desk: Desk, anchor: Anchor
) -> None:
    spoil(desk, anchor.keys.submission(1), desk.bucket.objects[anchor.keys.submission(1)].body[:20])
    run = opened(desk, anchor, "theirs")
    assert_shown_with_what_is_wrong(run, anchor.keys.submission(1), "bring an earlier version of it back")
    with pytest.raises(Damaged):
        run.retry()
    run.cancel()
    with pytest.raises(Damaged, match="submissions/1"):
        run.ledger.damage.check()


def test_why_tells_all_it_can_though_a_submission_is_damaged(desk: Desk, anchor: Anchor) -> None:
    desk.sync(anchor)
    for machine in ("ours", "theirs"):
        spoil(desk, anchor.keys.submission(1), b"{")
        run = opened(desk, anchor, machine)
        run.sync_as_far_as_possible()
        assert "submitted" not in str(run.why())
        assert run.story(1)
        with pytest.raises(Damaged, match="submissions/1"):
            run.ledger.damage.check()


def test_only_a_result_is_mended_by_a_retry() -> None:
    damage = Damage()
    damage.note(UsageError("is newer", where="s3://control/cancel", hint="use the sweep that wrote it"))
    with pytest.raises(Damaged, match=r"\(use the sweep that wrote it\)"):
        damage.check()
    damage.note_task(Damaged("is spoiled", where="s3://control/results/1.json"), "nightly", 1)
    with pytest.raises(Damaged, match="`sweep retry --task N` finds out"):
        damage.check()
    damage.mend("s3://control/results/1.json", "nightly", 1)
    with pytest.raises(Damaged, match=r"cancel is newer \(use"):
        damage.check()
