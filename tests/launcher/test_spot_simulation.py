"""The simulator that policies are judged by: traces are read as they are meant, and every tick is paid."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.spot.bench import measure
from benchmarks.spot.optimum import least_usd
from benchmarks.spot.policies import Greedy, OnDemand, Ours
from benchmarks.spot.simulate import ON_DEMAND, Ended, Job, Seen, simulate
from benchmarks.spot.traces import Trace, Zone, make_trace, read_traces

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.spot.simulate import Policy

HOURLY = Trace(
    (
        Zone("east-1a", (True, True, False, True, True, True), (1.0, 2.0, 2.0, 2.0, 2.0, 2.0)),
        Zone("west-2a", (False, True, True, True, True, True), (4.0, 4.0, 4.0, 4.0, 4.0, 4.0)),
    ),
    tick_hours=1.0,
    on_demand_usd_per_hour=10.0,
)


class Script:
    """Goes where it is told, tick by tick."""

    def __init__(self, *where: int | None) -> None:
        self.where = list(where)
        self.seen: list[Seen] = []

    def step(self, seen: Seen) -> int | None:
        self.seen.append(seen)
        return self.where[len(self.seen) - 1]


def play(job: Job, policy: Policy) -> Ended:
    return simulate(HOURLY, job, lambda *_: policy)


def test_every_tick_is_paid_at_its_own_price_and_every_start_pays_its_restart() -> None:
    ended = play(Job(work=3.0, deadline=6, restart=0.5), Script(0, 0, None, 0, 0, 0))
    # 1 + 2 for 1.5 h of work; then half an hour of restart and 1.5 h of work at 2.
    assert ended == Ended(usd=7.0, hours=5.0, starts=2, done=True)


def test_what_is_not_used_of_the_last_tick_is_not_paid() -> None:
    assert play(Job(work=0.25, deadline=6, restart=0.5), Script(0)).usd == 0.75


def test_a_closed_zone_gives_nothing_and_takes_away_what_runs() -> None:
    script = Script(0, 0, 0, None, None, None)
    ended = play(Job(work=5.0, deadline=6, restart=0.0), script)
    assert (ended.usd, ended.done) == (3.0, False)
    assert script.seen[2].at is None


def test_work_since_the_last_checkpoint_is_lost_and_a_move_pays_for_the_copy() -> None:
    script = Script(0, 0, 1, 1, 1, 1)
    job = Job(work=4.0, deadline=6, restart=0.0, checkpoint=1.5, copy_usd=7.0, copy_hours=1.0)
    play(job, script)
    assert script.seen[2].work == pytest.approx(2.5)
    assert script.seen[3].work == pytest.approx(2.5), "an hour for the copy"
    assert script.seen[2].region == "east-1"


def test_a_move_that_is_asked_for_loses_nothing() -> None:
    script = Script(0, ON_DEMAND, ON_DEMAND, ON_DEMAND, ON_DEMAND, ON_DEMAND)
    play(Job(work=4.0, deadline=6, restart=0.0, checkpoint=1.5), script)
    assert script.seen[1].work == pytest.approx(3.0)
    assert script.seen[2].work == pytest.approx(2.0)


def test_the_least_possible_knows_what_comes() -> None:
    # The first two hours in the east, one on demand or idle, the last in the east again.
    assert least_usd(HOURLY, Job(work=3.0, deadline=6, restart=0.0)) == 5.0
    assert least_usd(HOURLY, Job(work=6.0, deadline=6, restart=0.0)) == 1 + 2 + 4 + 2 + 2 + 2
    assert least_usd(HOURLY, Job(work=7.0, deadline=6, restart=0.0)) == float("inf")


@pytest.mark.parametrize("seed", range(6))
def test_no_policy_is_below_the_least(seed: int) -> None:
    trace, job = make_trace(seed, hours=14), Job(work=10.0, deadline=13.0)
    least = least_usd(trace, job)
    for policy in (Ours, Greedy, OnDemand):
        ended = simulate(trace, job, policy)
        assert ended.done
        assert ended.usd >= least - 1e-6


def write(folder: Path, zone: str, **changes: Any) -> None:
    metadata = {
        "gap_seconds": changes.pop("gap", 600),
        "start_time": changes.pop("start", "2023-02-15T00:00:00"),
        "price_info": {"zone": zone, "on_demand_price": 3.06, "price": 0.9},
    }
    (folder / f"{zone}_v100_1.json").write_text(json.dumps({"metadata": metadata, **changes}))


def test_one_in_a_file_says_that_a_zone_is_not_to_be_had(tmp_path: Path) -> None:
    write(tmp_path, "us-east-1a", data=[1, 0, 0], prices=[1.0, 1.1, 1.2])
    trace = read_traces(tmp_path)
    assert trace.zones == (Zone("us-east-1a", (False, True, True), (1.0, 1.1, 1.2)),)
    assert (trace.zones[0].region, trace.tick_hours, trace.on_demand_usd_per_hour) == ("us-east-1", 1 / 6, 3.06)


def test_zones_of_other_ticks_and_times_are_played_where_they_overlap(tmp_path: Path) -> None:
    write(tmp_path, "us-east-1a", data=[1, 0, 0, 1, 0, 0, 0], prices=[1.0] * 7)
    write(tmp_path, "us-west-2a", start="2023-02-15T00:20:00", gap=1200, data=[1, 0])
    trace = read_traces(tmp_path)
    assert [zone.is_open for zone in trace.zones] == [(True, False, True, True), (False, False, True, True)]
    assert trace.zones[1].usd_per_hour == (0.9,) * 4


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"data": [0, 2]}, "something else than 0 and 1"), ({"data": [0], "gap": 0}, "not above 0"), ({}, "KeyError")],
)
def test_a_file_that_is_no_trace_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    write(tmp_path, "us-east-1a", **changes)
    with pytest.raises(ValueError, match=said):
        read_traces(tmp_path)


def test_a_folder_without_traces_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no files of traces"):
        read_traces(tmp_path)


def test_the_figures_of_a_folder_count_who_is_late(tmp_path: Path) -> None:
    folder = tmp_path / "few"
    folder.mkdir()
    write(folder, "us-east-1a", data=[0, 0, 1, 1, 0, 0] * 80)
    figures = list(measure(tmp_path, Job(work=8.0, deadline=10.0)))
    assert [figure.kept for figure in figures] == [True, True, True]
    assert figures[0].what.startswith("spot on few, 3 windows")
    assert figures[2].value == 0
