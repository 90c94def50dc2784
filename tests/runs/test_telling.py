"""Others are told when a run has ended, when it is stuck, and when a budget is passed: once each."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.session import Session
from orchestrator.errors import Refused
from orchestrator.models.models import Models
from orchestrator.notices.channels import Channels
from orchestrator.runs.run import Run
from orchestrator.runs.sending.envelopes import holding
from orchestrator.runs.telling import notice_of_stuck
from orchestrator.runs.why.hindrance import Hindrance
from orchestrator.runs.written.anchor import create
from orchestrator.wire.result import Cause
from tests.cli.fake import FakeOrchestrator
from tests.launcher.fakes import Life, failed
from tests.models.bench import finished
from tests.notices.hooks import Hook, webhook
from tests.runs.bench import plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk, FakeCloud


@pytest.fixture
def hook() -> Iterator[Hook]:
    with webhook() as made:
        yield made


def cloud(desk: Desk, hook: Hook, **account: Any) -> FakeCloud:
    return desk.cloud(channels=Channels((hook.url,)), **account)


def opened(desk: Desk, hook: Hook, anchor: Anchor) -> Run:
    desk.sync(anchor)
    return Run(anchor, desk.ledger(), lambda: cloud(desk, hook))


def told(hook: Hook) -> list[tuple[str, str]]:
    return [(body["kind"], body["text"]) for body in hook.bodies]


def test_the_end_of_a_run_is_told_once_and_that_of_its_retry_is_another(desk: Desk, hook: Hook) -> None:
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])]
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    opened(desk, hook, anchor).conclude()
    assert told(hook) == []
    desk.launch(anchor, 0)
    opened(desk, hook, anchor).conclude()
    opened(desk, hook, anchor).conclude()
    assert told(hook) == [("failed", "run nightly of grid is failed: 1 failed, for $1.80")]
    desk.retry(anchor)
    desk.launch(anchor, 0)
    opened(desk, hook, anchor).conclude()
    assert told(hook)[1:] == [("finished", "run nightly of grid is done: 1 done, for $3.60")]
    assert hook.bodies[1]["facts"]["submission"] == 2


def test_the_sweep_file_names_others_beside_the_settings(desk: Desk, hook: Hook) -> None:
    with webhook() as other:
        notify = {"to": [other.url], "events": ["finished"]}
        anchor = desk.submit(desk.anchor(plan(tasks=1, notify=notify)))
        desk.launch(anchor, 0)
        opened(desk, hook, anchor).conclude()
        assert told(other) == told(hook) == [("finished", "run nightly of grid is done: 1 done, for $1.80")]


def test_a_budget_is_told_at_its_marks_and_a_refusal_with_the_day_it_resumes(desk: Desk, hook: Hook) -> None:
    made = plan(tasks=1, name="steering", budget={"per_month": 10.5})
    for name in ("monday", "tuesday", "wednesday"):
        anchor = desk.anchor(made, name, created_at=time.time())
        with (
            suppress(Refused),
            holding(desk.ledger(), cloud(desk, hook), lambda _anchor, _cloud: None) as ready,
        ):
            ready(anchor)
            create(desk.bucket, anchor)
    (half, refused_notice) = told(hook)
    assert half[0] == "budget"
    assert half[1].endswith(": 50 % are spent or held, $2.94 of $10.50 are left")
    assert refused_notice[0] == "refused"
    assert refused_notice[1].startswith("run wednesday was not made: the budget of workload steering for ")
    assert "it resumes on" in refused_notice[1]


def test_what_holds_a_run_up_is_one_event_however_its_numbers_change(desk: Desk) -> None:
    anchor = desk.anchor()
    assert notice_of_stuck(anchor, []) is None
    one = notice_of_stuck(anchor, [Hindrance(3, "3 wait for capacity since 10 m", "wait", "0-2")])
    later = notice_of_stuck(anchor, [Hindrance(2, "2 wait for capacity since 20 m", "wait", "1-2")])
    other = notice_of_stuck(anchor, [Hindrance(2, "the image is gone", "push it", "1-2")])
    assert one
    assert later
    assert other
    assert one.id == later.id != other.id
    assert one.text == "run nightly of grid: 3 of its tasks are held up: 3 wait for capacity since 10 m"


@pytest.fixture
def team(desk: Desk, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> Any:
    made: Any = FakeOrchestrator()
    made.cloud = cloud(desk, hook)
    monkeypatch.setattr(Session, "orchestrator", made)
    monkeypatch.setattr(Run, "sync_as_far_as_possible", lambda _, *, documents=True: documents)
    return made


def test_a_promotion_is_told_and_so_is_a_refused_challenger(
    desk: Desk, hook: Hook, team: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "models", Models(desk.cloud(), "ada", lambda *_: "a mark"))
    runs = {name: finished(desk, name, [loss]) for name, loss in (("monday", 0.5), ("tuesday", 0.6))}
    for run in runs.values():
        run.__dict__["cloud"] = team.cloud
    team.run = lambda name: runs[name]
    assert main(["models", "promote", "monday"]) == 0
    assert main(["models", "promote", "monday"]) == 0
    assert main(["models", "promote", "tuesday"]) == 6
    assert told(hook) == [
        ("promoted", "steering: promoted: task 0 of monday: it is the first: its loss is 0.5"),
        ("refused", "steering: not promoted: task 0 of tuesday: it is no better: its loss is 0.6, the champion's 0.5"),
    ]
    assert hook.bodies[0]["facts"]["challenger"]["artifact"] == "s3://data-us-east-1/runs/monday/0/model.tar.gz"


def test_sweep_notify_sends_a_test_and_says_what_became_of_it(
    hook: Hook, team: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert team.cloud
    assert main(["notify", "--test"]) == 0
    assert capsys.readouterr().out == "a test of sweep: notices arrive here\n127.0.0.1: told\n"
    hook.status = 404
    assert main(["notify", "--test"]) == 5
    out, err = capsys.readouterr()
    assert out.endswith("127.0.0.1: it answers 404 Not Found\n")
    assert err.splitlines()[-1] == "error: 1 of 1 addresses were not told"


def test_sweep_notify_tells_of_a_run_that_has_ended_once(
    desk: Desk, hook: Hook, team: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    team.run = lambda _: opened(desk, hook, anchor)
    desk.launch(anchor, 0)
    for _ in range(2):
        assert main(["notify", "nightly"]) == 0
    assert told(hook) == [("finished", "run nightly of grid is done: 1 done, for $1.80")]
    assert capsys.readouterr().out.splitlines()[-1] == "127.0.0.1: it was told before"


def test_where_nobody_is_named_sweep_notify_says_what_to_write(
    desk: Desk, team: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    team.cloud = desk.cloud()
    assert main(["notify", "--test"]) == 2
    assert 'write `notify = ["https://…"]` in sweep.toml' in capsys.readouterr().err
