from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runs.bench import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A team whose cloud is in memory."""
    return Desk(tmp_path)
