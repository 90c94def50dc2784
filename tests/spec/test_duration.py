from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.spec.duration import seconds, spell


@pytest.mark.parametrize(
    ("text", "length"),
    [("90m", 5400), ("2h", 7200), ("1d", 86400), ("1h30m", 5400), ("1.5h", 5400), ("45s", 45), ("1d2h3m4s", 93784)],
)
def test_a_duration_is_read(text: str, length: int) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize(
    "text", ["", "90", "h", "1w", "30m1h", "-1h", "1 h", "1h ", "1hh", "1H", "١h", "9" * 400 + "d"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the text is all there is to say
        seconds(text)


@given(st.integers(0, 10**8))
def test_a_spelt_duration_is_read_back(length: int) -> None:
    assert seconds(spell(length)) == length
