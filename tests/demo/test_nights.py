"""`sweep demo --nightly`, really run: three nights by the clock of a whole AWS, whose trainings are real."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from orchestrator.demo.nights import CAMPAIGN, FIRST, KEPT, LATER
from orchestrator.demo.sample_data import recordings
from tests.demo.test_demo import SWEEP, home, started  # noqa: F401 - `home` is a fixture

if TYPE_CHECKING:
    from pathlib import Path


def test_each_drive_arrives_once_and_the_one_that_models_are_measured_on_is_never_trained_on() -> None:
    assert sorted([*FIRST, *LATER, KEPT]) == sorted(recordings(CAMPAIGN))


@pytest.mark.long
def test_three_nights_train_what_is_new_and_promote_what_is_better(home: Path) -> None:  # noqa: F811
    demo = started(home, [SWEEP, "demo", "--nightly", "--json"], stderr=subprocess.PIPE)
    output, errors = demo.communicate(timeout=300)
    assert demo.returncode == 0, errors
    seen = json.loads(output)
    third, second, first = seen["nights"]
    assert [row["exit"] for row in seen["nights"]] == [0, 0, 0]
    assert first["why"].startswith("2 of 2 tasks done in nightly-")
    assert "it is the first" in first["why"]
    assert second["why"] == "nothing new: all 2 tasks are trained already"
    assert "promoted: " in third["why"]
    newest, oldest = seen["champions"]
    assert (newest["number"], oldest["number"]) == (2, 1)
    assert newest["model"]["score"] < oldest["model"]["score"] / 2
    assert newest["model"]["evaluation"] == oldest["model"]["evaluation"]
    assert newest["model"]["evaluation"]["mark"]
    assert f"{len(LATER)} more drives arrive" in errors
