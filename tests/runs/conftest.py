from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runs.bench import Desk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A team whose cloud is in memory."""
    return Desk(tmp_path)


@pytest.fixture
def desk_of(tmp_path: Path) -> Callable[[], Desk]:
    """Returns what makes one team after the other, each with a cloud of its own."""

    def make() -> Desk:
        made.append(tmp_path / f"desk-{len(made)}")
        made[-1].mkdir()
        return Desk(made[-1])

    made: list[Path] = []
    return make
