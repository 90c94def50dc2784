from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

pytestmark = pytest.mark.usefixtures("team")


def test_the_cost_is_a_table_with_its_sum(sweep: Sweep) -> None:
    lines = sweep("cost").out.splitlines()
    assert lines[1].split() == ["eu-west-1", "ml.m5.xlarge", "spot", "2", "1h30m", "$0.25"]
    assert lines[-1] == "nightly: $0.25 for 1h30m of machine time"


def test_the_cost_is_json(sweep: Sweep) -> None:
    body = json.loads(sweep("cost", "--json").out)
    assert (body["run"], body["usd"], body["hours"]) == ("nightly", 0.25, 1.5)
    assert body["rows"][0]["instance_type"] == "ml.m5.xlarge"
