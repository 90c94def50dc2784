"""A few of the inputs of `make fuzz`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.campaign import Campaign

if TYPE_CHECKING:
    from pathlib import Path


def test_what_nobody_meant_is_answered_in_one_line_soon_and_without_an_effect(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, seed=7)
    campaign.run(1_000)
    assert campaign.found == {}
    assert len(campaign.tried) > 12
