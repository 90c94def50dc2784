from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.catalog.catalog import Catalog


def test_the_known_regions_are_those_with_data_or_prices(shared: Catalog) -> None:
    assert shared.regions() == ["eu-central-1", "us-east-1", "us-west-2"]


def test_an_empty_catalog_knows_no_region(empty: Catalog) -> None:
    assert empty.regions() == []
