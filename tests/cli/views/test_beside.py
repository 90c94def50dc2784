"""What `sweep cost` says of storage, where its price is known and where it is not."""

from __future__ import annotations

import pytest

from orchestrator.api import Beside
from orchestrator.cli.views.beside import beside_line
from orchestrator.runs.views.beside import Stored


def said(stored: Stored) -> str:
    """Return what the line says of storage."""
    line = beside_line(Beside(1.0, 0.0124, copies=0, copies_usd=0.0, stored=stored))
    return line.removeprefix("beside that: launchers about $0.0124, ")


@pytest.mark.parametrize(
    ("usd", "unpriced", "line"),
    [
        (0.07, (), "3.0 GB in S3 about $0.0700 a month"),
        (
            0.07,
            ("sa-east-1",),
            "3.0 GB in S3 about $0.0700 a month, and what sa-east-1 asks, where no price is known "
            "(`sweep catalog refresh storage-prices --region sa-east-1`)",
        ),
        (
            0.0,
            ("eu-west-1", "sa-east-1"),
            "3.0 GB in S3 at what eu-west-1, sa-east-1 ask, where no price is known "
            "(`sweep catalog refresh storage-prices --region eu-west-1 --region sa-east-1`)",
        ),
    ],
)
def test_storage_has_the_price_of_its_regions_or_none(usd: float, unpriced: tuple[str, ...], line: str) -> None:
    assert said(Stored(9, 3 * 10**9, usd, is_whole=True, unpriced=unpriced)) == line


def test_what_was_not_counted_whole_is_at_least_that() -> None:
    assert said(Stored(9, 3 * 10**9, 0.07, is_whole=False)) == "at least 3.0 GB in S3 about $0.0700 a month"
