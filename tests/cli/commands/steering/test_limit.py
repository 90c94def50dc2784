from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator

pytestmark = pytest.mark.usefixtures("team")


def test_without_a_limit_the_plan_s_slots_are_told(sweep: Sweep) -> None:
    assert sweep("limit").out == "nightly: not limited; tasks and quotas allow 24 slots\n"
    assert json.loads(sweep("limit", "--json").out) == {"run": "nightly", "most": 24, "slots": {}}


def test_a_limit_is_set_and_told(sweep: Sweep, team: FakeOrchestrator) -> None:
    ended = sweep("limit", "nightly", "--slots", "8", "--slots", "eu-west-1=2")
    assert ended.out == "nightly: limited to 8 slots, 2 in eu-west-1; tasks and quotas allow 24\n"
    assert team.opened.calls[-1] == ("limit", {"": 8, "eu-west-1": 2})
    assert json.loads(sweep("limit", "--json").out)["slots"] == {"all": 8, "eu-west-1": 2}
    status = sweep("status").out
    assert "limited to 8 slots, 2 in eu-west-1: `sweep limit nightly --slots` changes it, `--off` lifts it\n" in status


def test_it_is_lifted(sweep: Sweep, team: FakeOrchestrator) -> None:
    sweep("limit", "--slots", "all=0")
    assert sweep("limit", "--off").out == "nightly: not limited; tasks and quotas allow 24 slots\n"
    assert team.opened.calls[-1] == ("limit", {})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--slots", "many"], "--slots: 'many' is no limit (write 8, eu-west-1=2 or"),
        (["--slots", "-1"], "--slots: '-1' is no limit"),
        (["--slots", "eu-west-1="], "--slots: 'eu-west-1=' is no limit"),
        (["--slots", "9" * 30], "is no limit"),
        (["--slots", "1", "--slots", "all=2"], "--slots: everything is limited twice"),
        (["--slots", "1", "--off"], "--off lifts what --slots sets"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(sweep: Sweep, options: list[str], said: str) -> None:
    ended = sweep("limit", *options)
    assert ended.code == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1
