"""The dollar promise, held against whatever may happen: written from docs/planner-model.md, "The dollar promise".

"Each attempt may run for MaxRuntime = (envelope − billed) ÷ (on-demand rate × instances) − k, where k is what its
platform may bill beyond that." So no order of endings, refusals, retries and places may pass the envelope, if each
attempt costs at most its rate for MaxRuntime and k.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.launcher.decide import Start, decide
from orchestrator.launcher.moving.saved import Ahead, Saved
from orchestrator.launcher.tried import Tried
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState
from orchestrator.wire.task import Expected, Lane, Limits, Place, Purchase
from tests.launcher.fakes import task


class Happening(NamedTuple):
    """What becomes of an attempt: why it ends, and the part of what it may cost at most that it costs."""

    cause: Cause
    part: float
    wait_s: float


EXPECTED = st.builds(Expected, st.floats(0.1, 100), st.floats(0.01, 50), st.floats(0, 1))
PLACES = st.builds(
    lambda platform, region, purchase, expected, **more: Place(
        Lane(platform, region, "g5.xlarge", purchase), "s3://b/d", expected=expected, **more
    ),
    st.sampled_from(["sagemaker", "ec2", "eks"]),
    st.sampled_from(["eu-west-1", "us-east-1", "us-west-2"]),
    st.sampled_from([Purchase.ON_DEMAND, Purchase.SPOT]),
    EXPECTED,
    rate=st.floats(0, 50),
    instances=st.integers(1, 8),
    joined=st.booleans(),
    allowance_s=st.none() | st.integers(0, 3600),
)
SAVED = st.none() | st.builds(Saved, st.just("eu-west-1"), st.floats(0, 500), st.floats(0, 0.15))
DEADLINES = st.none() | st.floats(0, 400_000)
HAPPENINGS = st.builds(
    Happening,
    st.sampled_from([Cause.TASK, Cause.CAPACITY, Cause.INTERRUPTED, Cause.TIMEOUT]),
    st.just(1.0) | st.floats(0, 1),
    st.floats(0, 4000),
)


def _beyond_s(place: Place) -> int:
    return 180 if place.allowance_s is None else place.allowance_s


def _most_usd(place: Place, max_runtime_s: int) -> float:
    """Return the most that an attempt at a place may be billed."""
    return place.rate * place.instances * (max_runtime_s + _beyond_s(place)) / 3600


@given(
    st.lists(PLACES, min_size=1, max_size=4, unique_by=lambda place: (place.lane, place.instances)),
    st.floats(0, 100),
    st.integers(60, 400_000),
    st.integers(0, 3),
    st.lists(HAPPENINGS, max_size=30),
    DEADLINES,
    SAVED,
)
def test_no_order_of_endings_refusals_retries_and_places_passes_an_envelope(
    places: list[Place],
    envelope: float,
    longest: int,
    retries: int,
    happenings: list[Happening],
    end_by: float | None,
    saved: Saved | None,
) -> None:
    saves = 0 if end_by is None else 600  # then its launcher weighs spot against on demand
    limits = Limits(longest, retries=retries, patience_s=1800, envelope=envelope, end_by=end_by, saved_every_s=saves)
    mine = task(places=tuple(places), limits=limits)
    tried: list[Tried] = []
    spent, now = 0.0, 0.0
    for number, (cause, part, wait_s) in enumerate(happenings, 1):
        ahead = Ahead(saved)
        step = decide(mine, tried, spent, now, ahead)
        if not isinstance(step, Start):
            return
        place = places[step.place]
        spent += ahead.usd_to(place.lane.region)
        saved = saved and replace(saved, region=place.lane.region)
        # Of places that one request asks for any may be the one that has machines.
        asked = [place, *takewhile(lambda other: other.joined, places[step.place + 1 :])]
        dearest = max(asked, key=lambda one: _most_usd(one, step.max_runtime_s))
        seconds = part * (step.max_runtime_s + _beyond_s(dearest))
        usd = part * _most_usd(dearest, step.max_runtime_s)
        attempt = Attempt(
            *(7, number, step.place, place.lane, f"t-{number}", "h", step.max_runtime_s, now, place.rate),
            max_wait_s=step.max_wait_s,
        )
        now += seconds + wait_s
        outcome = Outcome(number, place.lane, f"t-{number}", TaskState.FAILED, cause, "so", seconds, seconds, usd)
        tried.append(Tried(attempt, outcome))
        spent += usd
        assert spent <= envelope + 1e-6
