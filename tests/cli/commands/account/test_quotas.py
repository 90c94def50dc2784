from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert

from orchestrator.catalog.catalog import Catalog
from orchestrator.db.database import Database
from orchestrator.db.tables import leases, runs

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

RUN = {"name": "live", "plan_id": "p", "bucket": "b", "region": "us-east-1", "created_at": 0.0, "tasks": 4}


@pytest.fixture
def limited(sweep: Sweep) -> Sweep:
    """Three quotas; of one of them, a live run holds three, and one that has expired held more."""
    rows = ["us-east-1,ml.g5.xlarge,spot,4,2026-11-01", "us-east-1,*,spot,20,2026-11-01"]
    rows += ["eu-west-1,ml.g5.xlarge,on_demand,2,2026-11-01"]
    Path("quotas.csv").write_text("\n".join(["region,instance_type,purchase,slots,observed_at", *rows]) + "\n")
    assert sweep("catalog", "load", "quotas.csv").code == 0
    held = {"run": "live", "platform": "sagemaker", "region": "us-east-1", "quota": "ml.g5.xlarge/spot"}
    with Catalog(Database("sqlite:///sweep.db"), {}).engine.begin() as connection:
        connection.execute(insert(runs), [RUN | {"document": "{}"}, RUN | {"name": "past", "document": "{}"}])
        connection.execute(insert(leases).values(**held, units=3, expires_at=time.time() + 600))
        connection.execute(insert(leases).values(**held | {"run": "past"}, units=9, expires_at=time.time() - 600))
    return sweep


def test_what_live_runs_hold_is_not_free(limited: Sweep) -> None:
    header, *rows = limited("quotas").out.splitlines()
    assert header.split() == ["REGION", "QUOTA", "UNITS", "HELD_BY_US", "FREE"]
    assert [row.split() for row in rows] == [
        ["eu-west-1", "ml.g5.xlarge/on_demand", "2", "0", "2"],
        ["us-east-1", "*/spot", "20", "0", "20"],
        ["us-east-1", "ml.g5.xlarge/spot", "4", "3", "1"],
    ]


def test_a_part_of_the_name_and_a_region_choose(limited: Sweep) -> None:
    rows = json.loads(limited("quotas", "spot", "ml.g5", "--region", "us-east-1", "--json").out)
    assert [(row["quota"], row["held"], row["free"]) for row in rows] == [("ml.g5.xlarge/spot", 3, 1)]


def test_no_such_quota_is_told(limited: Sweep) -> None:
    ended = limited("quotas", "ml.p5")
    assert ended.code == 2
    assert "the catalog has no such quota (it has 3; `sweep catalog refresh` brings AWS's)" in ended.err
