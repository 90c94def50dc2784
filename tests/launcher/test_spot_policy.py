"""The policy for spot under a deadline, by itself and played on traces."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.spot.optimum import least_usd
from benchmarks.spot.policies import Greedy, OnDemand, Ours, UniformProgress
from benchmarks.spot.simulate import Job, simulate
from benchmarks.spot.traces import make_trace
from orchestrator.launcher.spot_policy import Chance, Situation, choose, longest_wait

SPOT = Chance(1.0, hours=10, start_hours=0.2, open_hours=5.0)
ON_DEMAND = Chance(3.0, hours=10, start_hours=0.2, spot=False)
CLOSED = replace(SPOT, is_open=False)


def test_spot_is_taken_while_there_is_time_for_it() -> None:
    assert choose([ON_DEMAND, SPOT], Situation(left=15)) == 1
    assert choose([ON_DEMAND, SPOT], Situation(left=15, at=1)) == 1


@pytest.mark.parametrize("at", [None, 0, 1])
def test_it_is_on_demand_when_nothing_else_keeps_the_deadline(at: int | None) -> None:
    assert choose([ON_DEMAND, SPOT], Situation(left=10.15, at=at)) == 0


def test_unsaved_work_is_counted_as_lost_before_it_is_risked() -> None:
    safe_enough = Situation(left=10.5, at=1)
    assert choose([ON_DEMAND, SPOT], safe_enough) == 1
    assert choose([ON_DEMAND, SPOT], replace(safe_enough, at_risk=0.4)) == 0


def test_a_short_gap_is_waited_for_and_a_long_one_is_not_if_spot_cannot_do_all() -> None:
    chances = [ON_DEMAND, replace(CLOSED, share=0.3)]
    assert choose(chances, Situation(left=12, closed_hours=0.1)) is None
    assert choose(chances, Situation(left=12, closed_hours=1.0)) == 0


def test_nothing_runs_while_spot_is_away_if_it_is_mostly_there() -> None:
    assert choose([ON_DEMAND, replace(CLOSED, share=0.95)], Situation(left=14, closed_hours=1.0)) is None


def test_of_two_lanes_the_one_that_lives_longer_is_worth_more_than_it_costs() -> None:
    flickers = replace(SPOT, usd_per_hour=0.95, open_hours=0.0, group="a")
    assert choose([ON_DEMAND, flickers, replace(SPOT, group="b")], Situation(left=13)) == 2


def test_a_dear_lane_is_left_alone_while_cheaper_ones_do_all_the_work() -> None:
    dear = replace(SPOT, usd_per_hour=2.0, group="b")
    assert choose([ON_DEMAND, CLOSED, dear], Situation(left=15)) is None
    assert choose([ON_DEMAND, replace(CLOSED, share=0.3), dear], Situation(left=15)) == 2


def test_a_task_moves_to_a_much_cheaper_lane_only_if_its_checkpoint_is_cheap_to_move() -> None:
    dear = replace(SPOT, usd_per_hour=2.5, group="b")
    assert choose([ON_DEMAND, SPOT, dear], Situation(left=15, at=2)) == 1
    assert choose([ON_DEMAND, replace(SPOT, start_usd=50.0), dear], Situation(left=15, at=2)) == 2


def test_a_lane_of_half_the_speed_counts_as_twice_as_dear() -> None:
    slow = replace(SPOT, usd_per_hour=0.6, hours=20, group="b")
    assert choose([ON_DEMAND, slow, SPOT], Situation(left=30)) == 2


def test_without_machines_on_demand_spot_is_taken_whenever_there_is_any() -> None:
    assert choose([CLOSED, replace(SPOT, usd_per_hour=2.0)], Situation(left=5)) == 1
    assert choose([CLOSED], Situation(left=5)) is None
    assert longest_wait([SPOT], left=5) == float("inf")


def test_the_longest_wait_leaves_time_for_all_the_work_on_demand() -> None:
    assert longest_wait([SPOT, ON_DEMAND], left=15) == pytest.approx(4.8)


jobs = st.builds(
    Job,
    work=st.floats(2, 12),
    deadline=st.just(0.0),
    restart=st.floats(0.0, 0.5),
    checkpoint=st.sampled_from([0.0, 0.1, 0.5]),
    copy_usd=st.sampled_from([0.0, 1.0]),
    copy_hours=st.sampled_from([0.0, 0.3]),
)


@settings(max_examples=60, deadline=None)
@given(job=jobs, slack=st.floats(0.5, 8), seed=st.integers(0, 10_000), zones=st.integers(1, 5))
def test_no_deadline_is_missed_that_machines_on_demand_can_keep(job: Job, slack: float, seed: int, zones: int) -> None:
    tick = 0.1
    reserve = job.restart + job.copy_hours + job.checkpoint + 3 * tick
    job = replace(job, deadline=job.work + reserve + slack)
    trace = make_trace(seed, zones=zones, hours=job.deadline + 1, tick_hours=tick)
    ended = simulate(trace, job, Ours)
    assert ended.done
    # Beyond on demand only, all that can be lost is what was tried on spot in the slack.
    most = (job.work + reserve + slack) * trace.on_demand_usd_per_hour + ended.starts * job.copy_usd
    assert ended.usd <= most


def test_ours_costs_less_than_its_rivals_and_more_than_the_least() -> None:
    job = Job(work=16.0, deadline=21.0)
    traces = [make_trace(seed, hours=22) for seed in range(100, 124)]
    mean = {
        policy: fmean(simulate(trace, job, policy).usd for trace in traces)
        for policy in (Ours, UniformProgress, Greedy, OnDemand)
    }
    least = fmean(least_usd(trace, job) for trace in traces)
    assert least <= mean[Ours] < min(mean[UniformProgress], mean[Greedy]) < mean[OnDemand]
