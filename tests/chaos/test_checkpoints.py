"""The storm's auditor of checkpoints finds one that was lost, and a copy that was paid twice or not at all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.chaos.report import Report
from tests.chaos.storm.checkpoints import CheckpointAuditor

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator import Plan
    from orchestrator.wire.result import Result
    from tests.chaos.storm.stage import Stage

GB = 10**9
HERE, THERE = "us-east-1", "eu-west-1"


def audited(folder: Path, loaded: list[str], *attempts: tuple[str, float], envelope: float = 9.0) -> Report:
    """Return what is found of task 0, whose trainings went on so, and whose attempts were there and cost so much more.

    Its checkpoint has a GB in two objects. Each attempt has cost a dollar itself.
    """
    (folder / "run").mkdir()
    (folder / "run" / "0.loaded").write_text("".join(f"{line}\n" for line in loaded))
    saved = {f"runs/run/checkpoints/0/slot-0/{name}": GB // 2 for name in ("state", "label.json")}
    stage: Any = SimpleNamespace(
        folder=folder,
        cloud=SimpleNamespace(regions=[HERE, THERE]),
        witness=SimpleNamespace(saved=lambda _region, _run: saved),
    )
    outcomes = [
        SimpleNamespace(
            number=number,
            training=f"run-0-{number}",
            lane=SimpleNamespace(region=region, platform="eks"),
            moved_usd=usd,
        )
        for number, (region, usd) in enumerate(attempts, start=1)
    ]
    result = SimpleNamespace(task=0, usd=sum(1 + usd for _, usd in attempts), outcomes=outcomes)
    share = SimpleNamespace(limits=SimpleNamespace(envelope=envelope))
    auditor = CheckpointAuditor(cast("Stage", stage), "run", report := Report())
    auditor.none_is_lost()
    auditor.each_copy_is_paid_once(cast("Plan", SimpleNamespace(share=lambda _: share)), [cast("Result", result)])
    return report


@pytest.mark.parametrize(
    ("loaded", "lost"),
    [
        (["1 -1", "2 5", "3 5"], 0),
        (["1 -1", "1 4", "2 2"], 0),  # it began again by itself, from what S3 did not have yet
        (["1 -1", "2 5", "3 4"], 1),
        (["1 -1", "2 5", "3 -1"], 1),
    ],
)
def test_who_goes_on_after_an_earlier_step_has_lost_a_checkpoint(tmp_path: Path, loaded: list[str], lost: int) -> None:
    report = audited(tmp_path, loaded, (HERE, 0.0), (HERE, 0.0), (HERE, 0.0))
    assert [promise for promise, _ in report.broken] == ["lost"] * lost
    assert report.moves.total() == 0


@pytest.mark.parametrize(("usd", "found"), [(0.15, 0), (0.3, 1), (0.0, 1)])
def test_a_copy_is_paid_once_and_counted_as_a_move(tmp_path: Path, usd: float, found: int) -> None:
    report = audited(tmp_path, ["1 -1", "2 5"], (HERE, usd), (THERE, 0.0))
    assert [promise for promise, _ in report.broken] == ["untrue"] * found
    assert report.moves == {"eks": 1}


def test_what_a_region_has_still_is_not_brought_again(tmp_path: Path) -> None:
    report = audited(tmp_path, ["1 -1", "2 5", "3 5"], (HERE, 0.15), (THERE, 0.0), (HERE, 0.0))
    assert (report.broken, report.moves.total()) == ([], 2)


def test_who_begins_anew_elsewhere_has_not_moved(tmp_path: Path) -> None:
    report = audited(tmp_path, ["2 -1"], (HERE, 0.0), (THERE, 0.0))
    assert (report.broken, report.moves.total()) == ([], 0)


def test_an_envelope_that_was_passed_is_found(tmp_path: Path) -> None:
    report = audited(tmp_path, ["1 -1"], (HERE, 0.0), envelope=0.9)
    assert [promise for promise, _ in report.broken] == ["untrue"]
