"""What is shown of logs where a Region cannot be read: all others, once, and what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import AccessDenied, SweepError, Unreachable
from orchestrator.plan.facts import Lot
from orchestrator.runs.known.damage import Damage
from orchestrator.runs.views.logs import Logs
from tests.runs.bench import LANES, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.plan.plan import Plan
    from tests.runs.bench import Desk


def over_two_regions() -> Plan:
    """Return a plan of four tasks: the first two in us-east-1, the others in eu-west-1."""
    alone = plan(4)
    (share,) = alone.shares
    (home,) = share.places
    there = replace(home, lane=LANES[1], s3_uri="s3://data-eu-west-1/alps/")
    shares = (replace(share, count=2), replace(share, first=2, count=2, places=(there,)))
    return replace(alone, shares=shares, lots=(*alone.lots, Lot(LANES[1], 3.6, {"own": 1}, used=None)))


@pytest.mark.parametrize("away", ["us-east-1", "eu-west-1"])
@pytest.mark.parametrize("error", [Unreachable, AccessDenied])
def test_a_region_that_cannot_be_read_costs_its_own_tasks_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, away: str, error: type[SweepError]
) -> None:
    anchor = desk.submit(desk.anchor(over_two_regions()))
    for task in range(4):
        desk.launch(anchor, task)
        desk.platform.written[f"nightly-{task}-1"] = [f"task {task}"]
    asked, read = [], desk.platform.logs

    def logs(attempt: Any, template: Any, after: dict[str, str]) -> Iterator[tuple[str, str]]:
        asked.append(attempt.task)
        if attempt.lane.region == away:
            raise error("no answer", where=away)
        return read(attempt, template, after)

    monkeypatch.setattr(desk.platform, "logs", logs)
    there = {"us-east-1": [0, 1], "eu-west-1": [2, 3]}
    left = [task for region, tasks in there.items() if region != away for task in tasks]
    shown, found = [], Logs(desk.cloud(), "nightly", Damage())
    with pytest.raises(error, match=rf"no answer \(logs of 2 tasks are left out, in {away}\)"):
        shown.extend(line.text for line in found.new_lines())
    assert shown == [f"task {task}" for task in left]
    assert len(asked) == 3  # who does not answer is asked once

    monkeypatch.undo()
    assert [line.text for line in found.new_lines()] == [f"task {task}" for task in there[away]]
