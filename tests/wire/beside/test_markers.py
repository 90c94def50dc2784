"""Who may start what: the cancel marker and the fence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import NewerVersion
from orchestrator.wire.beside.markers import CancelMarker, Fence, PauseMarker
from orchestrator.wire.ranges import Ranges


def test_a_task_belongs_to_the_newest_submission_that_names_it() -> None:
    fence = Fence().moved(2, Ranges.parse("3,5-9")).moved(4, Ranges.parse("7")).moved(3, Ranges.parse("7-8"))
    assert [fence.owner(task) for task in (0, 3, 5, 7, 8, 9, 10)] == [1, 2, 2, 4, 3, 2, 1]


MOVES = st.lists(st.tuples(st.integers(2, 5), st.sets(st.integers(0, 12), min_size=1)))


@given(MOVES, st.integers(0, 12))
def test_in_whatever_order_submissions_are_made_known_the_newest_owns_its_tasks(
    moves: list[tuple[int, set[int]]], task: int
) -> None:
    fence = Fence()
    for submission, tasks in moves:
        fence = fence.moved(submission, Ranges.of(tasks))
    assert fence.owner(task) == max([1, *(submission for submission, tasks in moves if task in tasks)])
    assert Fence.from_json(fence.to_json()) == fence


def test_a_marker_is_read_back_as_it_was_written() -> None:
    for marker in (CancelMarker(3), CancelMarker(3, ended=2)):
        assert CancelMarker.from_json(marker.to_json()) == marker
    assert CancelMarker(3).to_json() == {"version": 1, "through": 3}


def test_a_pause_keeps_its_first_reason_and_is_read_back() -> None:
    marker = PauseMarker().paused(2, "late").paused(1, "first").paused(1, "second")
    assert marker.reasons == {1: "first", 2: "late"}
    assert PauseMarker.from_json(marker.to_json()) == marker


@pytest.mark.parametrize(
    ("reader", "what"),
    [
        (CancelMarker.from_json, "cancel marker"),
        (PauseMarker.from_json, "pause marker"),
        (Fence.from_json, "fence"),
    ],
)
def test_what_a_newer_sweep_has_written_is_refused_in_words(reader: object, what: str) -> None:
    with pytest.raises(NewerVersion, match=f"this {what} has version 2"):
        reader({"version": 2})  # type: ignore[operator]


@pytest.mark.parametrize("body", [{"through": -1}, {"through": 1, "ended": -1}])
def test_a_cancel_marker_that_counts_below_nothing_is_refused(body: dict[str, int]) -> None:
    """Else it would be noted in a database, which could not be read any more."""
    with pytest.raises(ValueError, match="CancelMarker"):
        CancelMarker.from_json({"version": 1, **body})
