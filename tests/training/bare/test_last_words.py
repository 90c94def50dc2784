"""A machine never goes without a word, whatever goes wrong on it: in S3, or else on its console."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from orchestrator.training.bare import __main__ as program
from orchestrator.training.bare import machine_run
from orchestrator.training.bare.assignment import Assignment
from orchestrator.training.bare.files.bucket import Bucket, NotThere, S3Failed, Uri
from orchestrator.training.bare.machine_run import MachineRun
from orchestrator.training.bare.telling import outcome
from orchestrator.training.bare.telling.logs import Log
from orchestrator.training.bare.telling.outcome import MachineOutcome, leave_outcome, outcome_uri, read_machine_outcome
from orchestrator.training.bare.together.leave import hear_all
from orchestrator.training.bare.together.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

OUTPUT = "s3://team/runs/r/trainings/r-0-1"


class Shelf(Bucket):
    """A bucket in memory, which refuses its first calls."""

    def __init__(self, refusals: int = 0) -> None:
        self.objects: dict[str, bytes] = {}
        self.refusals = refusals

    def read(self, uri: Uri, part: slice | None = None) -> bytes:
        if str(uri) not in self.objects:
            raise NotThere(f"{uri} is not there")
        return self.objects[str(uri)][part or slice(None)]

    def write(self, uri: Uri, body: bytes, *, once: bool = False) -> bool:
        if self.refusals:
            self.refusals -= 1
            raise S3Failed("SlowDown: reduce your request rate")
        if once and str(uri) in self.objects:
            return False
        self.objects[str(uri)] = body
        return True


def assignment() -> Assignment:
    return Assignment(training="r-0-1", region="eu-west-1", output=OUTPUT, kind="pod", look_s=0.01)


def test_a_machine_that_does_not_know_its_place_lets_all_leave(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its instance's metadata gives no answer, say: nobody knows then which outcome would be its own."""
    shelf = Shelf()
    text = json.dumps(assignment().to_json()).encode()
    shelf.objects["s3://team/assignment.json"] = text
    monkeypatch.setattr(program, "Bucket", lambda *_: shelf)
    monkeypatch.setenv("SWEEP_INDEX", "7")
    assert program.main("s3://team/assignment.json", hashlib.sha256(text).hexdigest()) == program.CANNOT_START
    heard = hear_all(shelf, OUTPUT)
    assert heard is not None
    assert heard.cause == "interrupted"
    assert heard.reason.startswith("a machine that does not know its place: machine 7 of 1")
    assert "sweep: cannot start: machine 7 of 1" in capsys.readouterr().out


def test_an_error_of_its_own_program_is_told_as_any_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def break_down(*_: object) -> list[str]:
        raise RuntimeError("no such thing was foreseen")

    monkeypatch.setattr(machine_run.Surroundings, "line", break_down)
    shelf, place = Shelf(), Place(0, "127.0.0.1", "lo", {})
    run = MachineRun(assignment(), place, shelf, Log(None), {"SWEEP_BASE": str(tmp_path), "PATH": ""})
    assert run.run() == machine_run.UNFINISHED
    told = read_machine_outcome(shelf.objects[outcome_uri(OUTPUT, 0)])
    assert (told.state, told.cause) == ("failed", "interrupted")
    assert told.reason == "its own program has failed: RuntimeError: no such thing was foreseen"
    assert "in break_down" in capfd.readouterr().out


def test_the_last_word_is_written_though_s3_refuses_it_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome.time, "sleep", lambda _: None)
    shelf, ended = Shelf(refusals=3), MachineOutcome(0, "done", started_at=1.0, ended_at=2.0)
    leave_outcome(shelf, OUTPUT, ended)
    assert read_machine_outcome(shelf.objects[outcome_uri(OUTPUT, 0)]) == ended


def test_the_last_word_is_on_the_console_where_s3_never_takes_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr(outcome.time, "sleep", lambda _: None)
    monkeypatch.setattr(outcome.time, "monotonic", lambda: float(next(clock)))
    leave_outcome(Shelf(refusals=100), OUTPUT, MachineOutcome(0, "done"))
    assert "sweep: how it ended cannot be written: SlowDown: reduce your request rate" in capsys.readouterr().out
