"""A run on the local cloud is explained, compared and trained again by what its launchers and trainings really did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.api import find_differences
from orchestrator.spec.reading.reader import read

if TYPE_CHECKING:
    from tests.fixtures.team import Team


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_tasks_time_is_told_and_it_is_trained_again(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[1]"), name=name)
    for status in run.watch(every_s=0.2):
        assert not status.cancelled
    story = run.story(0)
    assert story is not None
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
