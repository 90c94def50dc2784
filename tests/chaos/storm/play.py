"""Plays stories on a local cloud, one after the other, until the time is over."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud import LocalCloud
from tests.chaos.report import Report
from tests.chaos.storm.audit import find_launchers_faults
from tests.chaos.storm.casts import find_able
from tests.chaos.storm.stage import Stage
from tests.chaos.storm.story import Story
from tests.fixtures.database import run_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable

FEWEST = 3
"""Stories of moves of which one has a move at least: whatever befalls one, its tasks may end where they are."""


def play_storm(seed: int, folder: Path, until: float, told: Callable[[str, Report], None], only: str = "") -> Report:
    """Play stories until this moment. `told` gets each story's words and what it met.

    With `only`, the cast of this name plays in all of them. SystemExit if it cannot play here.
    """
    report = Report()
    postgresql = Path(tempfile.mkdtemp(prefix="sweep-chaos-", dir="/tmp"))
    try:
        with LocalCloud(folder / "cloud", trainings=4) as cloud, run_postgresql(postgresql) as server:
            server.execute("CREATE DATABASE team")
            stage = Stage(folder / "stage", cloud, seed, server.url("team"))
            able = find_able(has_old=stage.old is not None, only=only)
            number, played = 0, Counter[str]()
            while time.monotonic() < until:
                story = Story(stage, seed, number, able)
                story.play()
                told("\n    ".join(filter(None, story.told)), story.report)
                report.add(story.report)
                played["moves" if story.cast.moves else story.cast.name] += 1
                number += 1
            if why := why_nothing_is_shown(played, report):
                report.find("stuck", why)
            find_launchers_faults(stage, report)
            report.kills += _launchers_killed(stage.folder / "kills")
    finally:
        shutil.rmtree(postgresql)
    return report


def why_nothing_is_shown(played: Counter[str], report: Report) -> str:
    """Return in words why a campaign says nothing of moves: stories were played for them, and nothing moved."""
    if played["moves"] < FEWEST or report.moves.total():
        return ""
    return f"in {played['moves']} stories tasks lost their machines, and never moved to another Region"


def _launchers_killed(marks: Path) -> Counter[tuple[str, str]]:
    """Count the launchers that were killed, by what they were and where it was."""
    lines = marks.read_text().splitlines() if marks.exists() else []
    return Counter((who, where) for who, _, where in (line.partition(" ") for line in lines))
