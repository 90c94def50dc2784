from __future__ import annotations

import pytest

from orchestrator.plan.dollars import told_apart


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (3.6, 0.0, ("$3.60", "$0.00")),
        (0.001, 0.0012, ("$0.0010", "$0.0012")),
        (0.000011, 0.000012, ("$0.000011", "$0.000012")),
        (1234.5, 1234.5, ("$1,234.500000", "$1,234.500000")),
    ],
)
def test_dollars_have_the_digits_in_which_they_differ(one: float, other: float, shown: tuple[str, str]) -> None:
    assert told_apart(one, other) == shown
