"""All launchers of a Region together keep to AWS's rates, however many there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.launcher.watching.pace import Pace

crowds = st.integers(1, 100_000)
polls = st.floats(0.1, 60)
ROUNDED = 1 + 1e-9


@given(crowds, polls)
def test_together_they_ask_at_most_five_times_a_second_and_each_no_oftener_than_it_was_told(
    at_once: int, poll_s: float
) -> None:
    pace = Pace(at_once, poll_s)
    assert pace.alone_s >= poll_s
    assert at_once / pace.alone_s <= 5 * ROUNDED
    assert at_once / pace.beside_board_s <= 2 * ROUNDED
    assert at_once / pace.logs_s <= 5 * ROUNDED
    assert pace.logs_s >= 2 * poll_s


@given(crowds, polls)
def test_a_board_is_read_where_a_look_in_turn_would_come_too_late(at_once: int, poll_s: float) -> None:
    pace = Pace(at_once, poll_s)
    assert pace.needs_board == (pace.alone_s > 45 and pace.alone_s > poll_s)
    assert at_once / pace.board_s <= 250 * ROUNDED


@pytest.mark.parametrize(
    ("at_once", "alone_s", "beside_s", "board_s"),
    [(100, 30, None, None), (200, 40, None, None), (2_000, 400, 1_000, 20), (10_000, 2_000, 5_000, 40)],
)
def test_the_pace_is_the_one_that_is_written_down(
    at_once: int, alone_s: float, beside_s: float | None, board_s: float | None
) -> None:
    pace = Pace(at_once, 30)
    assert pace.alone_s == alone_s
    shown = (pace.beside_board_s, pace.board_s) if pace.needs_board else (None, None)
    assert shown == (beside_s, board_s)
