from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

LANE = "sagemaker/us-east-1/ml.g5.xlarge/spot"


@pytest.fixture
def priced(sweep: Sweep) -> Sweep:
    rows = ["region,instance_type,purchase,usd_per_hour,observed_at"]
    rows += [f"us-east-1,ml.g5.xlarge,{purchase},0.5,2026-11-01" for purchase in ("spot", "on_demand")]
    Path("prices.csv").write_text("\n".join(rows) + "\n")
    assert sweep("catalog", "load", "prices.csv").code == 0
    return sweep


def test_where_nothing_ran_nothing_was_learned(sweep: Sweep) -> None:
    for words in (("learned",), ("learned", "show")):
        ended = sweep(*words)
        assert (ended.code, ended.out) == (0, "")
        assert "nothing was learned yet" in ended.err
    assert json.loads(sweep("learned", "--json").out) == []


def test_pins_are_shown_and_taken_away(priced: Sweep) -> None:
    assert f"`sweep learned unpin price {LANE}`" in priced("learned", "pin", "price", "$0.42", LANE).err
    priced("learned", "pin", "runtime", "90m", "ml.g5.xlarge", "--workload", "night")
    rows = json.loads(priced("learned", "--json").out)
    assert [(row["what"], row["place"], row["workload"], row["value"]) for row in rows] == [
        ("runtime", "ml.g5.xlarge", "night", 1.5),
        ("price", LANE, "", 0.42),
    ]
    header, *lines = priced("learned").out.splitlines()
    assert header.split() == ["WHAT", "WHERE", "VALUE", "BEFORE", "SEEN", "RESTS_ON", "WEIGHT", "PINNED_BY"]
    assert lines[1].split()[:3] == ["price", LANE, "$0.42/h"]
    said = json.loads(priced("learned", "unpin", "price", LANE, "--json").out)
    assert (said["mark"], said["what"], said["place"], said["value"]) == ("unpin", "price", LANE, None)
    assert len(json.loads(priced("learned", "--json").out)) == 1
    assert priced("learned", "unpin", "price", LANE).code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pin", "price", "cheap", LANE), "'cheap' says no price (write dollars an hour, like 0.42)"),
        (("pin", "price", "0", LANE), "the price cannot be 0 (more than 0, up to 10,000 dollars an hour)"),
        (("pin", "price", "nan", LANE), "the price cannot be nan"),
        (("pin", "price", "-1", LANE), "-1 is below zero, and no value is"),
        (("pin", "interruptions", "1e6", LANE), "the interruptions cannot be 1e6 (0 or more, up to 10,000 an hour)"),
        (("pin", "price", "1", LANE, "--workload", "night"), "--workload is for a runtime"),
        (("pin", "runtime", "1h", "ml.g5.xlarge", "--workload", "Bad Name"), "'Bad Name' cannot name a workload"),
        (("forget", "runtime", "--workload", "nope"), "no run of 'nope' is known"),
        (("forget", "price", "--workload", "night"), "--workload is for a runtime"),
        (("pin", "waiting", "soon", LANE), "'soon' says no waiting (write a time, like 90m or 1h30m)"),
        (("forget", "runtime"), "a runtime is of a workload (name it with --workload)"),
        (("forget", "prices"), "error: Invalid value for 'WHAT': 'prices' is not one of"),
        (("nowhere.yaml",), "nowhere.yaml"),
    ],
)
def test_what_cannot_be_is_one_line(priced: Sweep, words: tuple[str, ...], said: str) -> None:
    ended = priced("learned", *words)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_kind_is_forgotten_everywhere_or_at_one_place(priced: Sweep) -> None:
    assert "the waiting of every place is learned from now on" in priced("learned", "forget", "waiting").err
    assert f"the price of {LANE} is learned from now on" in priced("learned", "forget", "price", LANE).err
