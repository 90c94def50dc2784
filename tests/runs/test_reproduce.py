"""One task is trained again, by itself, from a folder that has all it was trained with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import Damaged, UsageError
from orchestrator.platforms.source import pack
from orchestrator.runs import reproduce as module
from orchestrator.runs.run import Run
from orchestrator.runs.sending.templates import source_key
from orchestrator.spec.reading.reader import read
from tests.runs.bench import ACCOUNT, Desk, plan

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.runs.reproduce import Reproduced
    from orchestrator.runs.written.anchor import Anchor

PINNED = "registry/steering@sha256:" + "0" * 64


@dataclass
class Pinning:
    def image(self, template: Any, lane: Any) -> str:  # noqa: ARG002
        return PINNED


@pytest.fixture(autouse=True)
def _pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "make_operating", lambda _: Pinning())


def submitted(desk: Desk, tmp_path: Path, **sweep: Any) -> Anchor:
    """Return a run whose sources lie in its Region's bucket, though their folder has changed since."""
    code = tmp_path / "training"
    (code / "nets").mkdir(parents=True)
    (code / "train.py").write_text("from orchestrator.training.report import report")
    (code / "nets" / "wide.py").write_text("WIDE = 1")
    (code / "run.sh").write_text("true")
    (code / "run.sh").chmod(0o755)
    package = pack(code)
    anchor = desk.submit(desk.anchor(plan(tasks=4, **sweep), code=package.digest))
    desk.cloud().bucket("us-east-1").put_once(source_key(package.digest), package.body)
    (code / "train.py").write_text("something else")
    return anchor


def reproduced(desk: Desk, anchor: Anchor, task: int, folder: Path) -> Reproduced:
    desk.ledger().remember(anchor, ACCOUNT)
    return Run(anchor, desk.ledger(), desk.cloud).reproduce(task, folder)


def test_the_sweep_file_has_one_task_with_its_point_data_lane_and_image(desk: Desk, tmp_path: Path) -> None:
    anchor = submitted(desk, tmp_path, retries=2, train__hyperparameters={"depth": 3})
    made = reproduced(desk, anchor, 2, tmp_path / "again")
    sweep = read(made.sweep)
    assert [sweep.points.point(number) for number in range(len(sweep.points))] == [anchor.plan.sweep.points.point(2)]
    assert (sweep.data.campaigns, sweep.data.version) == (["alps"], "1")
    assert sweep.where.regions == ["us-east-1"]
    assert sweep.where.instance_types == ["ml.g5.xlarge"]
    assert [one.value for one in sweep.where.purchases] == ["spot"]
    assert sweep.train.image == made.image == PINNED
    assert (sweep.retries, sweep.runtime) == (2, anchor.plan.sweep.runtime)
    assert sweep.train.hyperparameters == {"depth": 3}
    assert f"# Task 2 of run nightly, plan {anchor.plan.id}" in made.sweep.read_text()


def test_the_sources_are_those_of_then_without_ours(desk: Desk, tmp_path: Path) -> None:
    anchor = submitted(desk, tmp_path)
    made = reproduced(desk, anchor, 0, tmp_path / "again")
    source = tmp_path / "again" / "source"
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert files == {"train.py", "nets/wide.py", "run.sh"}
    assert made.files == 3
    assert (source / "run.sh").stat().st_mode & 0o777 == 0o755
    assert pack(source).digest == anchor.code


def test_a_folder_that_is_there_is_left_as_it_is(desk: Desk, tmp_path: Path) -> None:
    anchor = submitted(desk, tmp_path)
    (tmp_path / "again").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        reproduced(desk, anchor, 0, tmp_path / "again")
    assert list((tmp_path / "again").iterdir()) == []


def test_sources_that_are_gone_or_spoiled_are_told_and_nothing_is_written(desk: Desk, tmp_path: Path) -> None:
    anchor = submitted(desk, tmp_path)
    bucket = desk.cloud().bucket("us-east-1")
    bucket.objects.clear()
    with pytest.raises(UsageError, match="not there any more"):
        reproduced(desk, anchor, 0, tmp_path / "again")
    bucket.put_once(source_key(anchor.code), b"spoiled")
    with pytest.raises(Damaged, match="cannot be unpacked"):
        reproduced(desk, anchor, 0, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_there_is_no_such_task(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no task 4"):
        reproduced(desk, submitted(desk, tmp_path), 4, tmp_path / "again")
