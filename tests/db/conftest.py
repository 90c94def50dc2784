"""These tests run the migrations themselves: see tests/fixtures/schema.py."""

from __future__ import annotations

import pytest

from orchestrator.db import migrate
from tests.fixtures.schema import migrate_really


@pytest.fixture(autouse=True)
def migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "_run_migrations", migrate_really)
