"""The dollar promise, held against whatever may happen: written from docs/planner-model.md, "The dollar promise".

"Each attempt may run for MaxRuntime = (envelope − billed) ÷ (on-demand rate × instances) − k, where k is what its
platform may bill beyond that." So no order of endings, refusals, retries and places may pass the envelope, if each
attempt costs at most its rate for MaxRuntime and k.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.launcher.decide import Start, decide
from orchestrator.launcher.moving.saved import Ahead
from orchestrator.launcher.tried import Tried
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.launcher.fakes import task


class Happening(NamedTuple):
    """What becomes of an attempt: why it ends, and the part of what it may cost at most that it costs."""

    cause: Cause
    part: float
    wait_s: float


PLACES = st.builds(
    lambda platform, rate, instances, k: Place(
        Lane(platform, "eu-west-1", "g5.xlarge", Purchase.ON_DEMAND), "s3://b/d", rate, "", instances, allowance_s=k
    ),
    st.sampled_from(["sagemaker", "ec2", "eks"]),
    st.floats(0, 50),
    st.integers(1, 8),
    st.none() | st.integers(0, 3600),
)
HAPPENINGS = st.builds(
    Happening,
    st.sampled_from([Cause.TASK, Cause.CAPACITY, Cause.INTERRUPTED, Cause.TIMEOUT]),
    st.just(1.0) | st.floats(0, 1),
    st.floats(0, 4000),
)


@given(
    st.lists(PLACES, min_size=1, max_size=4),
    st.floats(0, 100),
    st.integers(60, 400_000),
    st.integers(0, 3),
    st.lists(HAPPENINGS, max_size=30),
)
def test_no_order_of_endings_refusals_retries_and_places_passes_an_envelope(
    places: list[Place], envelope: float, longest: int, retries: int, happenings: list[Happening]
) -> None:
    limits = Limits(longest, retries=retries, patience_s=1800, envelope=envelope)
    mine = task(places=tuple(places), limits=limits)
    tried: list[Tried] = []
    spent, now = 0.0, 0.0
    for number, (cause, part, wait_s) in enumerate(happenings, 1):
        step = decide(mine, tried, spent, now, Ahead())
        if not isinstance(step, Start):
            return
        place = places[step.place]
        k = 180 if place.allowance_s is None else place.allowance_s
        seconds = part * (step.max_runtime_s + k)
        usd = place.rate * place.instances * seconds / 3600
        attempt = Attempt(7, number, step.place, place.lane, f"t-{number}", "h", step.max_runtime_s, now, place.rate)
        now += seconds + wait_s
        outcome = Outcome(number, place.lane, f"t-{number}", TaskState.FAILED, cause, "so", seconds, seconds, usd)
        tried.append(Tried(attempt, outcome))
        spent += usd
        assert spent <= envelope + 1e-6
