from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.api import Orchestrator, OtherPlan, read_plan
from orchestrator.cli.session import Session
from orchestrator.errors import NotFound
from tests.cli.fake import FakeOrchestrator, FakeRun, status

if TYPE_CHECKING:
    from tests.cli.calls import Sweep


@dataclass
class PlansForReal(FakeOrchestrator):
    """Plans with the catalog that is there, and submits to nowhere."""

    def plan(self, sweep, classic=None, *, time_limit_s=None):
        self.calls.append(("plan", sweep.name, classic))
        return Orchestrator().plan(sweep, classic, time_limit_s=time_limit_s)


@pytest.fixture
def team(project: Path, monkeypatch: pytest.MonkeyPatch) -> FakeOrchestrator:  # noqa: ARG001
    fake = PlansForReal()
    monkeypatch.setattr(Session, "orchestrator", fake)
    return fake


@pytest.fixture
def plan(sweep: Sweep, team: FakeOrchestrator) -> str:
    """The id of the plan in plan.json."""
    sweep("plan", "sweep.yaml", "-o", "plan.json")
    team.calls.clear()
    return json.loads(Path("plan.json").read_text())["id"]


def test_a_plan_is_submitted_as_it_is(sweep: Sweep, team: FakeOrchestrator, plan: str) -> None:
    ended = sweep("submit", "plan.json", "--yes")
    assert (ended.code, ended.out) == (0, "nightly\n")
    assert team.calls == [("submit", plan, None, False)]


def test_the_folder_that_is_sent_is_told_if_it_is_not_below_the_current_one(
    sweep: Sweep, plan: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "its code is sent from" not in sweep("submit", "plan.json", "--yes").err
    (project / "elsewhere").mkdir()
    monkeypatch.chdir(project / "elsewhere")
    ended = sweep("submit", "../plan.json", "--yes")
    assert ended.code == 0
    assert f"its code is sent from {project.resolve() / 'src'}\n" in ended.err
    assert plan in ended.err


@pytest.mark.parametrize("folder", ["../elsewhere", "/etc", ".."])
def test_a_plan_that_says_where_else_code_lies_is_refused(
    sweep: Sweep, team: FakeOrchestrator, plan: str, folder: str
) -> None:
    made = json.loads(Path("plan.json").read_text())
    Path("plan.json").write_text(json.dumps(made | {"folder": folder}))
    ended = sweep("submit", "plan.json", "--yes")
    assert (ended.code, ended.err.count("\n"), team.calls) == (2, 1, [])
    assert "neither below this folder nor beside the plan" in ended.err
    assert plan == made["id"]


def test_a_sweep_is_planned_and_submitted(sweep: Sweep, team: FakeOrchestrator, plan: str) -> None:
    assert sweep("submit", "sweep.yaml", "--yes", "--name", "weekly", "--again").code == 0
    assert team.calls == [("plan", "my-sweep", None), ("submit", plan, "weekly", True)]


def test_a_plan_that_holds_is_not_planned_anew(sweep: Sweep, team: FakeOrchestrator, plan: str) -> None:
    assert sweep("submit", "plan.json", "--yes", "--replan").code == 0
    assert team.calls == [("submit", plan, None, False)]


def test_a_stale_plan_is_planned_anew_shown_and_asked_about(sweep: Sweep, team: FakeOrchestrator, plan: str) -> None:
    team.stale_because = "ml.c5.xlarge spot in eu-west-1 has 0 of 4 slots free, and the plan takes 2"
    ended = sweep("submit", "plan.json", "--replan")
    assert ended.code == 2
    first, *shown, last = ended.err.splitlines()
    assert first == f"note: plan {plan} is stale: {team.stale_because}. Planned anew:"
    assert any("ml.c5.xlarge" in line for line in shown)
    assert "this asks first" in last
    assert team.calls == [("replan", plan)]
    assert sweep("submit", "plan.json", "--replan", "--yes").out == "nightly\n"


def test_the_run_that_is_under_way_is_completed_not_made_again(sweep: Sweep, team: FakeOrchestrator, plan: str) -> None:
    team.running = FakeRun("nightly", plan=read_plan(Path("plan.json")))
    team.running.statuses = [status(running=2)]
    ended = sweep("submit", "sweep.yaml", "--yes")
    assert team.calls == [("submit", plan, "nightly", False)]
    assert ended.err.splitlines()[0].startswith("note: run nightly of this sweep is under way")
    team.calls.clear()
    assert sweep("submit", "sweep.yaml", "--yes", "--again").code == 0
    assert team.calls == [("plan", "my-sweep", None), ("submit", plan, None, True)]


def test_a_named_run_that_has_ended_is_told_and_nothing_is_asked(
    sweep: Sweep, team: FakeOrchestrator, plan: str
) -> None:
    team.running = FakeRun("nightly", plan=read_plan(Path("plan.json")))
    ended = sweep("submit", "sweep.yaml", "--name", "nightly")
    assert (ended.code, ended.out) == (0, "nightly\n")
    assert ended.err.splitlines()[0] == "note: run nightly of this sweep has ended; --again makes another"
    assert ended.err.splitlines()[-1] == "nightly is done: `sweep results nightly` shows it, --again makes another"
    assert team.calls == [("submit", plan, "nightly", False)]


def test_a_plan_whose_run_has_failed_says_what_to_do_and_asks_nothing(
    sweep: Sweep, team: FakeOrchestrator, plan: str
) -> None:
    team.running = team.opened = FakeRun(plan, plan=read_plan(Path("plan.json")), statuses=[status(done=1, failed=2)])
    ended = sweep("submit", "plan.json")
    assert (ended.code, ended.out) == (0, f"{plan}\n")
    assert ended.err.splitlines()[0] == f"note: run {plan} of this plan has ended; --again makes another"
    assert ended.err.splitlines()[-1] == (
        f"{plan} has ended with 2 of 3 tasks not done: `sweep results {plan}` says why, "
        f"`sweep retry {plan}` runs them again, --again makes another run"
    )


def test_a_run_of_another_plan_of_the_sweep_is_not_taken_for_this_one(
    sweep: Sweep, team: FakeOrchestrator, plan: str
) -> None:
    other = replace(read_plan(Path("plan.json")), market="another")
    team.running = FakeRun("nightly", plan=other)
    ended = sweep("submit", "plan.json", "--yes", "--name", "nightly")
    assert "note: run nightly" not in ended.err
    assert team.calls == [("submit", plan, "nightly", False)]


def test_whoever_loses_the_race_for_a_name_goes_on_with_the_other_run_of_the_sweep(
    sweep: Sweep, team: FakeOrchestrator, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = FakeRun("nightly", plan=read_plan(Path("plan.json")), statuses=[status(running=2)])
    submit = team.submit

    def lose(made: Any, **options: Any) -> FakeRun:
        if team.running is None:
            team.running = there
            raise OtherPlan("run 'nightly' exists with another plan")
        return submit(made, **options)

    monkeypatch.setattr(team, "submit", lose)
    ended = sweep("submit", "sweep.yaml", "--yes", "--name", "nightly")
    assert (ended.code, ended.out) == (0, "nightly\n")
    assert team.calls[-1] == ("submit", plan, "nightly", False)
    team.running, team.calls = None, []
    assert sweep("submit", "plan.json", "--yes", "--name", "nightly").code == 2  # a plan is meant as it is
    assert team.calls == []


@pytest.mark.usefixtures("plan")
def test_the_plan_is_shown_before_it_is_submitted(sweep: Sweep) -> None:
    assert "ml.c5.xlarge" in sweep("submit", "plan.json", "--yes").err


def test_without_a_terminal_it_needs_yes(sweep: Sweep, team: FakeOrchestrator, plan: str) -> None:  # noqa: ARG001
    ended = sweep("submit", "plan.json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("error: this asks first, and there is no terminal to ask on (--yes goes ahead)\n")
    assert team.calls == []


def test_submitting_as_json_names_the_run(sweep: Sweep, plan: str) -> None:
    body = json.loads(sweep("submit", "plan.json", "--yes", "--json").out)
    shown = json.loads(sweep("plan", "sweep.yaml", "--json").out)
    assert body == {"run": "nightly", "plan": plan, "tasks": 12, "usd": shown["usd"]}


def test_a_dry_run_prints_the_requests_and_sends_none(sweep: Sweep, team: FakeOrchestrator, plan: str) -> None:
    ended = sweep("submit", "plan.json", "--dry-run")
    body = json.loads(ended.out)
    assert body == {"run": plan, "requests": [{"operation": "SubmitJob"}], "left_out": ["a million more"]}
    assert ended.err == "note: a million more\n"
    assert team.calls == []


def test_a_dry_run_of_a_plan_that_has_been_run_says_how_that_ended(
    sweep: Sweep, team: FakeOrchestrator, plan: str
) -> None:
    team.running = FakeRun("nightly", plan=read_plan(Path("plan.json")), statuses=[status(running=2)])
    ended = sweep("submit", "plan.json", "--dry-run")
    assert json.loads(ended.out)["run"] == "nightly"
    assert ended.err.splitlines()[0].startswith("note: run nightly of this plan is under way")
    assert ended.err.splitlines()[-1] == "note: what the run has of this is not sent again"
    team.running.statuses = [status(done=2)]
    assert sweep("submit", "plan.json", "--dry-run").err.splitlines()[-1].startswith("nightly is done: ")
    assert json.loads(sweep("submit", "plan.json", "--dry-run", "--again").out)["run"] == plan


@pytest.mark.parametrize("options", [("--yes",), ("--dry-run",)])
def test_what_a_platform_says_of_a_key_is_told_with_its_line(
    sweep: Sweep, team: FakeOrchestrator, plan: str, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NotFound("there is no such script", where="train.entry_point")

    for method in ("submit", "requests"):
        monkeypatch.setattr(team, method, refuse)
    of_sweep, of_plan = (sweep("submit", file, *options).err.splitlines()[-1] for file in ("sweep.yaml", "plan.json"))
    assert re.fullmatch(r"error: sweep.yaml:\d+:\d+: train.entry_point: there is no such script", of_sweep)
    assert of_plan == "error: train.entry_point: there is no such script"
    assert plan


@pytest.mark.usefixtures("plan")
def test_submit_and_watch_ends_as_the_run_did(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [status(running=2), status(done=1, failed=1)]
    ended = sweep("submit", "plan.json", "--yes", "--watch")
    assert (ended.code, ended.out) == (5, "nightly\n")
    assert "nightly: 0/2 done, 2 running, $0.00\nnightly: 1/2 done, 1 failed" in ended.err


@pytest.mark.usefixtures("plan")
def test_an_interrupted_submit_says_how_to_complete_it(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.interrupted = True
    ended = sweep("submit", "plan.json", "--yes")
    assert (ended.code, ended.out) == (130, "")
    assert "the same command again completes it" in ended.err.splitlines()[-1]


def test_a_classic_jobarray_goes_with_a_sweep(sweep: Sweep, team: FakeOrchestrator) -> None:
    Path("jobs.csv").write_text("eu-central-1,s3://mine/a/\n")
    assert sweep("submit", "sweep.yaml", "--manifest", "jobs.csv", "--yes").code == 0
    assert team.calls[0] == ("plan", "my-sweep", Path("jobs.csv"))


@pytest.mark.usefixtures("plan")
def test_a_classic_jobarray_does_not_go_with_a_plan(sweep: Sweep) -> None:
    ended = sweep("submit", "plan.json", "--manifest", "jobs.csv", "--yes")
    assert ended.code == 2
    assert "a plan already says which tasks there are" in ended.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "error: plan.json: cannot be read: No such file or directory"),
        ("{", "error: plan.json: not a plan"),
        ("[]", "error: plan.json: not a plan"),
    ],
)
@pytest.mark.usefixtures("team")
def test_a_file_that_is_no_plan_is_one_clear_line(sweep: Sweep, content: str | None, said: str) -> None:
    if content is not None:
        Path("plan.json").write_text(content)
    ended = sweep("submit", "plan.json", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(said)
    assert ended.err.count("\n") == 1


@pytest.mark.usefixtures("plan")
def test_a_plan_changed_by_hand_is_refused(sweep: Sweep, team: FakeOrchestrator) -> None:
    text = Path("plan.json").read_text()
    Path("plan.json").write_text(re.sub(r'"usd": [0-9.]+', '"usd": 0.0', text))
    ended = sweep("submit", "plan.json", "--yes")
    assert ended.code == 2
    assert "changed by hand" in ended.err
    assert team.calls == []
