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
    assert header.split() == ["REGION", "QUOTA", "UNITS", "USED_BY_ALL", "HELD_BY_US", "FREE"]
    assert [row.split() for row in rows] == [
        ["eu-west-1", "ml.g5.xlarge/on_demand", "2", "-", "0", "2"],
        ["us-east-1", "*/spot", "20", "-", "0", "20"],
        ["us-east-1", "ml.g5.xlarge/spot", "4", "-", "3", "1"],
    ]


def test_a_part_of_the_name_and_a_region_choose(limited: Sweep) -> None:
    rows = json.loads(limited("quotas", "spot", "ml.g5", "--region", "us-east-1", "--json").out)
    assert [(row["quota"], row["held"], row["free"]) for row in rows] == [("ml.g5.xlarge/spot", 3, 1)]


def test_no_such_quota_is_told(limited: Sweep) -> None:
    ended = limited("quotas", "ml.p5")
    assert ended.code == 2
    assert "the catalog has no such quota (it has 3; `sweep catalog refresh` brings AWS's)" in ended.err


def test_what_everybody_uses_is_not_free_and_nothing_is_used_where_nothing_was_found(limited: Sweep) -> None:
    Path("quota_use.csv").write_text("region,quota,used\nus-east-1,*/*,12\nus-east-1,*/spot,12\n")
    limited("catalog", "load", "quota_use.csv")
    rows = json.loads(limited("quotas", "--json").out)
    assert [(row["region"], row["quota"], row["used"], row["free"]) for row in rows] == [
        ("eu-west-1", "ml.g5.xlarge/on_demand", None, 2),
        ("us-east-1", "*/spot", 12, 8),
        ("us-east-1", "ml.g5.xlarge/spot", 0, 1),
    ]


def test_a_quota_that_is_full_says_how_to_ask_for_more_and_the_request_is_printed(limited: Sweep) -> None:
    head = "region,quota,units,code,observed_at"
    row = "us-east-1,ml.g6.xlarge/spot,0,sagemaker/L-ABCD1234,2026-11-02"
    Path("raised.csv").write_text(f"{head}\n{row}\n")
    limited("catalog", "load", "raised.csv", "--kind", "quotas")
    assert "1 quota without any free: --raise-to prints how to ask for more" in limited("quotas").err
    ended = limited("quotas", "spot", "--raise-to", "8")
    assert ended.out.splitlines() == [
        "aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-ABCD1234"
        " --desired-value 8 --region us-east-1"
    ]
    assert "warning: 1 quota left out: nobody knows how AWS is asked to raise them" in ended.err


def test_who_asks_for_no_more_than_there_is_is_told(limited: Sweep) -> None:
    ended = limited("quotas", "--raise-to", "1")
    assert (ended.code, ended.out) == (2, "")
    assert "there is no quota below 1 to raise among these 3 (ask for more)" in ended.err


@pytest.mark.usefixtures("project")
def test_what_one_more_of_each_full_quota_would_save_a_sweep(sweep: Sweep) -> None:
    full = ["eu-central-1,ml.c5.xlarge,spot,1,2026-11-01", "eu-central-1,ml.c5.xlarge,on_demand,1,2026-11-01"]
    Path("quotas.csv").write_text("\n".join(["region,instance_type,purchase,slots,observed_at", *full]) + "\n")
    assert sweep("catalog", "load", "quotas.csv").code == 0
    tight = Path("sweep.yaml").read_text() + "\nplan: {deadline: 2h}\n"
    Path("tight.yaml").write_text(tight)
    rows = json.loads(sweep("quotas", "--for", "tight.yaml", "--json").out)
    saved = [row["one_more_saves"] for row in rows]
    assert "ml.c5.xlarge/spot" in {row["quota"] for row in rows}
    assert saved == sorted(saved, reverse=True)
    assert saved[0] > 0
    assert sweep("quotas", "--for", "tight.yaml").out.splitlines()[0].split()[-1] == "ONE_MORE_SAVES"


@pytest.mark.usefixtures("project")
def test_a_plan_with_room_everywhere_is_said_to_need_no_more(sweep: Sweep) -> None:
    ended = sweep("quotas", "--for", "sweep.yaml")
    assert ended.code == 0
    assert "leaves room in each of these quotas" in ended.err
