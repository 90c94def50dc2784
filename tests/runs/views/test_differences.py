"""Two runs are compared by what was asked, with what, and by what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.platforms.source import pack
from orchestrator.runs.run import Run
from orchestrator.runs.sending.templates import source_key
from orchestrator.runs.views import differences
from orchestrator.runs.views.differences import find_differences
from tests.runs.bench import ACCOUNT, Desk, plan

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Pinning:
    def image(self, template: Any, lane: Any) -> str:  # noqa: ARG002
        return f"x@sha256:{template.run}" if template.run.startswith("pinned") else "x@sha256:0"


@pytest.fixture(autouse=True)
def _pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "make_operating", lambda _: Pinning())


def run(desk: Desk, name: str, *, code: str = "c0de", **sweep: Any) -> Run:
    anchor = desk.submit(desk.anchor(plan(tasks=2, **sweep), name=name, code=code))
    desk.ledger().remember(anchor, ACCOUNT)
    return Run(anchor, desk.ledger(), desk.cloud)


def told(one: Run, other: Run) -> dict[str, tuple[str, str]]:
    return {each.what: (each.one, each.other) for each in find_differences(one, other)}


def test_runs_of_one_sweep_are_alike(desk: Desk) -> None:
    assert told(run(desk, "first"), run(desk, "second")) == {}


def test_keys_of_the_sweep_file_are_named_as_they_are_written(desk: Desk) -> None:
    one = run(desk, "first", retries=1, train__hyperparameters={"depth": 3})
    other = run(desk, "second", train__hyperparameters={"depth": 4, "width": 2})
    assert told(one, other) == {
        "retries": ("1", "0"),
        "train.hyperparameters.depth": ("3", "4"),
        "train.hyperparameters.width": ("", "2"),
    }


def test_sources_are_compared_file_by_file_where_they_still_are(desk: Desk, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("1")
    old = pack(code)
    (code / "train.py").write_text("2")
    new = pack(code)
    one, other = run(desk, "first", code=old.digest), run(desk, "second", code=new.digest)
    assert told(one, other) == {"sources": (old.digest, new.digest)}
    for package in (old, new):
        desk.cloud().bucket("us-east-1").put_once(source_key(package.digest), package.body)
    assert told(one, other) == {"sources": (old.digest, "train.py has changed")}


def test_what_came_of_them_and_their_images_are_compared(desk: Desk) -> None:
    one, other = run(desk, "first"), run(desk, "pinned")
    desk.launch(one.anchor, 0)
    desk.launch(one.anchor, 1)
    one.sync()
    assert told(one, other) == {
        "image": ("x@sha256:0", "x@sha256:pinned"),
        "state": ("done", "pending"),
        "cost": ("$3.60", "$0.00"),
    }
