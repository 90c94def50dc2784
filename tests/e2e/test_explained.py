"""A run on the local cloud is explained, compared and trained again by what its launchers and trainings really did."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from orchestrator.api import find_differences
from orchestrator.spec.reading.reader import read

if TYPE_CHECKING:
    from orchestrator.api import Run
    from orchestrator.runs.why.story import Story
    from tests.fixtures.team import Team


def story_of_an_ended_launcher(run: Run) -> Story:
    """Return task 0's story once Batch says that its launcher has ended, a moment after the task has."""
    until = time.monotonic() + 30
    while True:
        story = run.story(0)
        assert story is not None
        if story.launcher != "RUNNING" or time.monotonic() > until:
            return story
        time.sleep(0.2)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_tasks_time_is_told_and_it_is_trained_again(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[1]"), name=name)
    for status in run.watch(every_s=0.2):
        assert not status.cancelled
    story = story_of_an_ended_launcher(run)
    parts = {part.name: part.seconds for part in story.parts}
    assert {"waiting for slots", "launcher start", "training", "noticed"} <= parts.keys()
    assert sum(parts.values()) + story.unaccounted == pytest.approx(story.total)
    assert abs(story.unaccounted) < 0.1 * story.total
    assert story.launcher.startswith("SUCCEEDED")
    assert run.why() == []
    assert team.orchestrator().reap().strays == []
    again = run.reproduce(0, team.folder / "again")
    sweep = read(again.sweep)
    second = team.orchestrator().submit(team.orchestrator().plan(sweep), name=f"{name}-again")
    second.cancel()
    differing = {each.what for each in find_differences(run, second)}
    assert "sources" not in differing
    assert "image" not in differing
