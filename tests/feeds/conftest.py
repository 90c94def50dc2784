"""An empty catalog, on each of both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.catalog.platforms import make_catalog

if TYPE_CHECKING:
    from orchestrator.catalog.catalog import Catalog


@pytest.fixture
def empty(database_url: str) -> Catalog:
    return make_catalog(database_url)
