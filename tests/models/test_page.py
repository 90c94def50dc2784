"""The commands of docs/models.md, as they stand there, and what comes of them."""

from __future__ import annotations

import json
import logging
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from orchestrator.cli.app import main
from orchestrator.cli.session import Session
from orchestrator.models.models import Models
from orchestrator.runs.run import Run
from tests.cli.fake import FakeOrchestrator
from tests.fixtures.sweeps import make_sweep
from tests.models.bench import finished

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.session import Clients
    from orchestrator.notices.notice import Notice
    from tests.runs.bench import Desk

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
REGION = "us-east-1"

Ended = tuple[int, str, str]


def commands() -> list[str]:
    return re.findall(r"^    (sweep models .+)$", PAGE, re.MULTILINE)


@pytest.fixture
def sweep(
    desk: Desk, clients: Clients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], Ended]:
    """`sweep("sweep models list")` of a team with two runs, whose models lie in S3."""
    monkeypatch.setattr(logging.getLogger("orchestrator"), "handlers", [])  # others write where nobody reads any more
    s3 = clients.client("s3", REGION)
    s3.create_bucket(Bucket="data-us-east-1")
    runs = {}
    for name, losses in (("monday", [0.5, 0.25]), ("tuesday", [0.2, 0.3])):
        runs[name] = finished(desk, name, losses)
        for task in (0, 1):
            s3.put_object(Bucket="data-us-east-1", Key=f"runs/{name}/{task}/model.tar.gz", Body=name.encode())
    team: Any = FakeOrchestrator()
    team.run = lambda name: runs[name]
    team.ledger = desk.ledger()
    cloud = desk.cloud()
    cloud.clients = clients
    monkeypatch.setattr(Session, "orchestrator", team)
    monkeypatch.setattr(Session, "models", Models(cloud, "ada", lambda *_: "a mark"))
    monkeypatch.setattr(Run, "sync_as_far_as_possible", lambda _, *, documents=True: documents)
    monkeypatch.chdir(tmp_path)

    def call(command: str) -> Ended:
        code = main(shlex.split(command)[1:])
        return (code, *capsys.readouterr())

    return call


def test_the_commands_do_what_the_page_says(sweep: Callable[[str], Ended]) -> None:
    ended = {command: sweep(command) for command in commands()}
    assert [command for command, (code, _, _) in ended.items() if code] == []
    printed = {command: out for command, (_, out, _) in ended.items()}
    assert printed["sweep models promote monday"] == "steering: promotion 1 is champion: task 1 of monday\n"
    assert printed["sweep models promote tuesday"] == "steering: promotion 2 is champion: task 0 of tuesday\n"
    assert printed["sweep models list"].splitlines()[1].split()[:5] == ["steering", "2", "0.2", "loss", "tuesday"]
    assert len(printed["sweep models show steering"].splitlines()) == 3
    assert "s3://data-us-east-1/runs/tuesday/0/model.tar.gz" in printed["sweep models show steering --number 2"]
    assert re.search(r"^score +0.25 +0.2$", printed["sweep models diff steering 1 2"], re.MULTILINE)
    assert Path("model/model.tar.gz").read_bytes() == b"tuesday"
    assert printed["sweep models rollback steering --yes"] == "steering: promotion 3 is champion: task 1 of monday\n"
    assert printed[commands()[-1]] == "steering: promotion 4 is champion: task 1 of tuesday\n"


def test_a_challenger_that_is_no_better_is_refused_with_exit_code_6(sweep: Callable[[str], Ended]) -> None:
    sweep("sweep models promote tuesday")
    code, out, err = sweep("sweep models promote monday")
    assert code == 6
    assert out == "steering: promotion 1 is champion: task 0 of tuesday\n"
    assert err == (
        "error: not promoted: task 1 of monday: it is no better: its loss is 0.25, the champion's 0.2 "
        "(--task N --force promotes a task all the same)\n"
    )


def test_a_refused_challenger_is_shown_with_the_rule_that_it_breaks(sweep: Callable[[str], Ended]) -> None:
    sweep("sweep models promote tuesday")
    sweep("sweep models promote monday")
    sweep("sweep models promote monday")  # repeating it is harmless
    header, refused, promoted = sweep("sweep models show steering --all")[1].splitlines()
    assert header.split()[:7] == ["NUMBER", "SCORE", "METRIC", "RUN", "TASK", "HOW", "RULE"]
    assert refused.split()[:7] == ["-", "0.25", "loss", "monday", "1", "refused", "objective"]
    assert refused.endswith("it is no better: its loss is 0.25, the champion's 0.2")
    assert promoted.split()[:6] == ["1", "0.2", "loss", "tuesday", "0", "challenge"]
    (row, _) = json.loads(sweep("sweep models list --all --json")[1])
    assert (row["workload"], row["number"], row["champion"], row["rule"]) == ("steering", None, 1, "objective")
    assert len(sweep("sweep models show steering")[1].splitlines()) == 2


def test_a_workload_whose_challengers_were_all_refused_is_listed(
    sweep: Callable[[str], Ended], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished(desk, "friday", [0.9], promote={"floor": 0.5})
    monkeypatch.setattr(Session.orchestrator, "run", lambda _: run)
    assert sweep("sweep models promote friday")[0] == 6
    assert sweep("sweep models list")[1] == ""
    (row,) = json.loads(sweep("sweep models list --all --json")[1])
    assert (row["run"], row["champion"], row["rule"]) == ("friday", 0, "promote.floor")
    assert row["why"] == "its loss of 0.9 is above the floor of 0.5"


def test_a_damaged_refusal_is_named_and_hides_no_other(
    sweep: Callable[[str], Ended], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep("sweep models promote tuesday")
    desk.bucket.put_once("workloads/steering/refusals/friday/0-1.json", b"[]")
    noted: list[str] = []
    monkeypatch.setattr(Session, "note_damage", lambda _, error: noted.append(error.where))
    assert len(json.loads(sweep("sweep models show steering --all --json")[1])) == 1
    assert noted == ["s3://control/workloads/steering/refusals/friday/0-1.json"]


def test_a_rollback_is_told_once(sweep: Callable[[str], Ended], monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Notice] = []
    monkeypatch.setattr("orchestrator.notices.send.notify", lambda notice, *_: told.append(notice))
    sweep("sweep models promote monday")
    sweep("sweep models promote tuesday")
    sweep("sweep models rollback steering --yes")
    assert [notice.text for notice in told] == ["steering: ada rolled back: promotion 1 again, instead of 2"]
    sweep("sweep models rollback steering --to 1 --yes")  # it is champion already
    assert len({notice.id for notice in told}) == 1  # who gets an id twice is told once


def test_every_command_has_json(sweep: Callable[[str], Ended]) -> None:
    made = json.loads(sweep("sweep models promote monday --json")[1])
    assert (made["promoted"], made["champion"]["model"]["score"]) == (True, 0.25)
    sweep("sweep models promote tuesday")
    assert [one["number"] for one in json.loads(sweep("sweep models list --json")[1])] == [2]
    assert [one["number"] for one in json.loads(sweep("sweep models show steering --json")[1])] == [2, 1]
    assert json.loads(sweep("sweep models show steering --number 1 --json")[1])["model"]["run"] == "monday"
    differences = json.loads(sweep("sweep models diff steering --json")[1])
    assert (differences["one"], differences["other"]) == (1, 2)
    assert json.loads(sweep("sweep models get steering --json")[1])[0]["path"] == "steering/model.tar.gz"
    assert json.loads(sweep("sweep models rollback steering --yes --json")[1])["how"] == "rollback"


@pytest.mark.parametrize(
    ("command", "code", "line"),
    [
        ("sweep models show sterring", 2, "no champion of 'sterring'"),
        ("sweep models get steering", 2, "no champion of 'steering'"),
        ("sweep models promote monday --force", 2, "which task is to be promoted?"),
        ("sweep models promote monday --task 7", 2, "run 'monday' has no task 7"),
        ("sweep models rollback steering", 2, "this asks first"),
    ],
)
def test_what_cannot_be_done_is_one_line(sweep: Callable[[str], Ended], command: str, code: int, line: str) -> None:
    ended = sweep(command)
    assert ended[0] == code
    assert line in ended[2]
    assert len(ended[2].splitlines()) == 1


def test_a_damaged_promotion_is_named_at_the_end(sweep: Callable[[str], Ended], desk: Desk) -> None:
    desk.bucket.put_once("workloads/steering/promotions/000001.json", b"{}")
    for command in ("sweep models get steering", "sweep models promote monday"):
        code, _, err = sweep(command)
        assert code == 5
        assert "s3://control/workloads/steering/promotions/000001.json" in err


def test_where_the_only_champion_is_damaged_nobody_says_that_there_is_none(
    sweep: Callable[[str], Ended], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.bucket.put_once("workloads/steering/promotions/000001.json", b"[]")
    ledger = Session.orchestrator.ledger  # type: ignore[attr-defined]
    monkeypatch.setattr(Session, "check_damage", lambda _: ledger.damage.check())
    code, out, err = sweep("sweep models list")
    assert (code, out, len(err.splitlines())) == (5, "", 1)
    assert "s3://control/workloads/steering/promotions/000001.json cannot be understood: ValueError: it is no" in err


def test_over_a_promotion_of_a_newer_sweep_nothing_is_promoted(sweep: Callable[[str], Ended], desk: Desk) -> None:
    desk.bucket.put_once("workloads/steering/promotions/000001.json", b'{"version": 99}')
    code, _, err = sweep("sweep models promote monday")
    assert code == 2
    assert "use the sweep that wrote it" in err


def test_the_rules_that_the_page_shows_can_be_written() -> None:
    shown = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    rules = yaml.safe_load(shown[1])["promote"]
    made = make_sweep(
        objective={"minimize": "loss"},
        train__metrics=["loss", "recall"],
        train__channels={"test": "s3://data-{region}/test/"},
        promote=rules,
    )
    assert made.promote is not None
    assert made.promote.guards[0].tolerance == 0.005
