"""A plan file is what `sweep plan` wrote, or it is refused in one line: also if somebody has made its id anew."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.plan.copy import Copy
from orchestrator.plan.facts import LanePrice, Lot, QuotaFact
from orchestrator.plan.file import read_plan, write_plan
from orchestrator.wire.names import digest
from orchestrator.wire.task import Quota
from tests.fixtures.spoil import wrong_values
from tests.runs.bench import LANES, plan

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.plan.plan import Plan

CASES = 400
"""Wrong values that are tried; `make test-long` tries all."""


def whole_plan() -> Plan:
    """Return a plan that has something of all that a plan may have."""
    lane = LANES[0]
    return replace(
        plan(),
        copies=(Copy(0, "us-east-1", "eu-west-1", "s3://a/", "s3://{bucket}/b/", 1.5, 0.5),),
        lots=(Lot(lane, 3.6, {"own": 1}, used=2),),
        quotas=(QuotaFact(Quota("fake", "us-east-1", "own"), 4, 1),),
        prices=(LanePrice(lane, "", 3.6, 3.6),),
        bound=0.5,
    )


def with_right_id(body: Any) -> str:
    """Return a plan's file with the id of what is in it, as far as it has one."""
    try:
        content = {name: value for name, value in body.items() if name not in ("id", "folder", "version")}
        return json.dumps(body | {"id": digest(content)})
    except ValueError:  # nan and infinities have no id
        return json.dumps(body)


def plan_or_error(file: Path) -> Plan | UsageError:
    try:
        return read_plan(file)
    except UsageError as error:
        return error


def check(tmp_path: Path, cases: int | None) -> None:
    file = tmp_path / "plan.json"
    write_plan(whole_plan(), file)
    every = [(path, with_right_id(body)) for path, body in wrong_values(json.loads(file.read_text()))]
    believed = []
    for path, text in every if cases is None else Random(12).sample(every, cases):
        file.write_text(text)
        made = plan_or_error(file)
        if isinstance(made, UsageError):
            assert made.where == str(file)
            assert len(str(made)) < 800
            continue
        believed.append(path)
        for amount in (made.usd, made.worst_usd, made.gap):
            assert isfinite(amount)
            assert amount >= 0, path
        assert made.finish > 0 < made.hours, path
        assert made.task(0, code="c0de").places
        assert made.sites
    assert len(believed) < (cases or len(every)) / 3


def test_a_plan_with_a_wrong_value_and_a_right_id_is_refused_in_a_line(tmp_path: Path) -> None:
    check(tmp_path, CASES)


@pytest.mark.long
def test_a_plan_with_any_wrong_value_and_a_right_id_is_refused_in_a_line(tmp_path: Path) -> None:
    check(tmp_path, None)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"count": 3', '"count": -5'), ('"count": 3', '"count": 3.5'), ('"bound": 0.5', '"bound": NaN'),
     ('"bound": 0.5', '"bound": "cheap"'), ('"usd": 1.0', '"usd": -1000000000.0'), ('"dataset": 0', '"dataset": 7'),
     ('"hours": 0.5', '"hours": 0')],
)  # fmt: skip
def test_what_no_plan_can_say_is_no_plan(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "plan.json"
    write_plan(whole_plan(), file)
    text = file.read_text()
    assert old in text
    file.write_text(with_right_id(json.loads(text.replace(old, new))))
    with pytest.raises(UsageError, match="not a plan"):
        read_plan(file)
