"""A run of which some has ended and some has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.launcher.fakes import RUNNING, Life
from tests.runs.bench import Desk, plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor


@pytest.fixture
def anchor(desk: Desk) -> Anchor:
    """A run of two tasks: task 0 is done long ago, task 1 runs."""
    made = desk.submit(desk.anchor(plan(tasks=2)))
    desk.launch(made, 0)
    desk.platform.lives = [Life(looks=[RUNNING])]
    driver = desk.launcher(made, 1)
    driver._load()
    for _ in range(3):
        driver._take_step()
    return made
