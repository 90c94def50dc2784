"""What is learned from finished tasks: planted effects are found again, under noise and among outliers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.catalog.market import HISTORY, table
from orchestrator.planner.hours.learn import FEWEST, learn
from orchestrator.planner.hours.learned import BYTES, INSTANCES, LearnedHours
from orchestrator.planner.hours.speed import EFFICIENCY, speed
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.spec.sweep import Sweep

G5, P3, UNHEARD = "ml.g5.xlarge", "ml.p3.2xlarge", "ml.zz.large"
GB = 10**9


def nightly(**changes: Any) -> Sweep:
    """Hours are not said; they depend on the epochs."""
    return make_sweep(**{"runtime": None, "sizes": ["epochs"], "where__instance_types": [G5, P3, UNHEARD]} | changes)


@dataclass(frozen=True)
class World:
    """The truth, and how well it can be seen."""

    level: float = 2.0
    paces: tuple[tuple[str, float], ...] = ((G5, 1.0), (P3, 0.7))
    data: float = 0.8
    epochs: float = 1.0
    doubling: float = 1.7
    noise: float = 0.05
    outliers: float = 0.0

    def hours(self, instance_type: str, size: float, epochs: float, instances: int) -> float:
        grown = (size / (100 * GB)) ** self.data * (epochs / 10) ** self.epochs
        return float(self.level * dict(self.paces)[instance_type] * grown / self.doubling ** np.log2(instances))

    def history(self, tasks: int = 300, seed: int = 1, instances: tuple[int, ...] = (1, 2, 4)) -> pd.DataFrame:
        random = np.random.default_rng(seed)
        rows = []
        for _ in range(tasks):
            instance_type = str(random.choice([name for name, _ in self.paces]))
            size, epochs = int(random.choice([20, 100, 300]) * GB), int(random.choice([5, 10, 20, 40]))
            count = int(random.choice(instances))
            hours = self.hours(instance_type, size, epochs, count) * np.exp(random.normal(0, self.noise))
            if random.random() < self.outliers:
                hours *= random.choice([0.02, 20.0])
            rows.append(seen(instance_type, hours, size, {"epochs": epochs, "lr": random.random()}, count))
        return table(rows, HISTORY)


def seen(
    instance_type: str = G5, hours: float = 1.0, size: int = GB, point: dict[str, float] | None = None, count: int = 1
) -> tuple[Any, ...]:
    """A row of HISTORY."""
    return (
        "sagemaker",
        "us-east-1",
        instance_type,
        "on_demand",
        count,
        size,
        json.dumps(point or {"epochs": 1}),
        hours,
    )


def known(sweep: Sweep, history: pd.DataFrame, size: int = 100 * GB) -> LearnedHours:
    found = learn(sweep, [size], history)
    assert found is not None
    return found


def expected(found: LearnedHours, instance_type: str, size: float, epochs: float, instances: int) -> float:
    pace = found.pace(instance_type)
    assert pace is not None
    factors = {BYTES: size, "epochs": epochs, INSTANCES: instances}
    return (
        found.base_hours * pace * float(np.prod([found.factor(name, np.array([v]))[0] for name, v in factors.items()]))
    )


@settings(max_examples=40)
@given(
    st.builds(
        World,
        level=st.floats(0.01, 100),
        paces=st.tuples(st.tuples(st.just(G5), st.just(1.0)), st.tuples(st.just(P3), st.floats(0.2, 5))),
        data=st.floats(0, 1.2),
        epochs=st.floats(0.3, 1.5),
        doubling=st.floats(1.2, 1.95),
        noise=st.floats(0, 0.2),
        outliers=st.floats(0, 0.1),
    ),
    st.integers(0, 1000),
)
def test_planted_effects_are_found_again(world: World, seed: int) -> None:
    found = known(nightly(), world.history(seed=seed))
    assert found.features[BYTES].slope == pytest.approx(world.data, abs=0.1)
    assert found.features["epochs"].slope == pytest.approx(world.epochs, abs=0.1)
    assert found.doubling == pytest.approx(world.doubling, rel=0.07)
    for name, _ in world.paces:
        truth = world.hours(name, 200 * GB, 30, 2)
        assert expected(found, name, 200 * GB, 30, 2) == pytest.approx(truth, rel=0.15)


@settings(max_examples=40)
@given(st.integers(0, 1000), st.floats(0, 0.3), st.floats(0, 0.1))
def test_more_epochs_never_take_less_where_they_took_more(seed: int, noise: float, outliers: float) -> None:
    found = known(nightly(), World(epochs=0.7, noise=noise, outliers=outliers).history(seed=seed))
    assert (np.diff(found.factor("epochs", np.arange(1.0, 100.0))) > 0).all()


def test_the_same_history_teaches_the_same() -> None:
    assert known(nightly(), World().history()) == known(nightly(), World().history())


def test_of_fewer_than_five_tasks_nothing_is_learned() -> None:
    assert learn(nightly(), [GB], table([seen()] * (FEWEST - 1), HISTORY)) is None
    assert learn(nightly(), [GB], table([seen(), seen(P3)] * (FEWEST - 1), HISTORY)) is None
    assert learn(nightly(), [GB], table([], HISTORY)) is None


def test_five_tasks_of_one_type_say_nothing_of_a_type_that_fewer_ran_on() -> None:
    found = known(nightly(), table([*[seen(hours=2.0)] * FEWEST, *[seen(P3, hours=50.0)] * 4], HISTORY))
    assert list(found.types) == [G5]
    assert found.types[G5].tasks == FEWEST
    beside = (speed(G5) or 0) / (speed(P3) or 1)
    assert expected(found, P3, GB, 1, 1) == pytest.approx(2.0 * beside, rel=1e-3)


def test_a_type_without_a_speed_is_learned_but_never_guessed() -> None:
    assert known(nightly(), table([seen()] * 9, HISTORY)).pace(UNHEARD) is None
    found = known(nightly(), table([seen(hours=2.0), seen(UNHEARD, hours=30.0)] * 9, HISTORY))
    assert expected(found, UNHEARD, GB, 1, 1) == pytest.approx(30.0, rel=0.02)
    assert expected(found, G5, GB, 1, 1) == pytest.approx(2.0, rel=0.02)


def test_what_never_varied_goes_by_the_priors() -> None:
    found = known(nightly(), table([seen(hours=2.0)] * 20, HISTORY))
    assert expected(found, G5, GB, 1, 1) == pytest.approx(2.0)
    assert expected(found, G5, 3 * GB, 1, 1) == pytest.approx(6.0)
    assert expected(found, G5, GB, 4, 1) == pytest.approx(8.0)
    assert expected(found, G5, GB, 1, 2) == pytest.approx(2.0 / (2 * EFFICIENCY))
    assert found.doubling is None


def test_the_file_s_efficiency_holds_until_several_instances_were_seen() -> None:
    sweep = nightly(train={"entry_point": "t.py", "source": "s", "image": "x", "instances": 2, "efficiency": 0.75})
    once = known(sweep, table([seen(hours=3.0)] * 20, HISTORY))
    assert expected(once, G5, GB, 1, 2) == pytest.approx(2.0)
    both = known(sweep, table([seen(hours=3.0), seen(hours=1.6, count=2)] * 50, HISTORY))
    assert expected(both, G5, GB, 1, 2) == pytest.approx(1.6, rel=0.01)


def test_twice_the_instances_are_never_more_than_twice_as_fast() -> None:
    found = known(nightly(), table([seen(hours=3.0), seen(hours=1.0, count=2)] * 50, HISTORY))
    assert found.doubling == pytest.approx(2.0, abs=1e-4)


@pytest.mark.parametrize("wild", [0.01, 40.0])
def test_a_few_wild_tasks_move_nothing(wild: float) -> None:
    tame = [seen(hours=hours) for hours in np.linspace(0.9, 1.1, 41)]
    found = known(nightly(), table([*tame, *[seen(hours=wild)] * 3], HISTORY))
    assert expected(found, G5, GB, 1, 1) == pytest.approx(1.0, rel=0.03)
    assert found.types[G5].high < 1.15
    assert found.types[G5].low > 0.85


def test_the_spread_holds_eight_tasks_in_ten() -> None:
    random = np.random.default_rng(3)
    ratio = np.exp(random.normal(0, 0.5, 2000))
    type_ = known(nightly(), table([seen(hours=hours) for hours in ratio], HISTORY)).types[G5]
    mean = np.exp(0.5**2 / 2)
    assert type_.low * mean == pytest.approx(np.exp(-1.2816 * 0.5), rel=0.1)
    assert type_.high * mean == pytest.approx(np.exp(1.2816 * 0.5), rel=0.1)


def test_what_is_expected_is_the_mean_not_the_median() -> None:
    found = known(nightly(), table([seen(hours=1.0), seen(hours=4.0)] * 50, HISTORY))
    assert expected(found, G5, GB, 1, 1) == pytest.approx(2.5, rel=0.01)


def test_few_tasks_are_taken_to_vary_more_than_they_did() -> None:
    hours = [0.9, 0.95, 1.0, 1.05, 1.1]
    few = known(nightly(), table([seen(hours=each) for each in hours], HISTORY)).types[G5]
    many = known(nightly(), table([seen(hours=each) for each in hours * 40], HISTORY)).types[G5]
    assert few.high > many.high > 1
    assert few.low < many.low < 1


def test_a_size_that_may_be_zero_is_no_power() -> None:
    sweep = nightly(space={"augmented": "bool"}, sizes=["augmented"])
    rows = [seen(hours=3.0 if on else 1.0, point={"augmented": on}) for on in (True, False)]
    found = known(sweep, table(rows * 50, HISTORY))
    assert found.factor("augmented", np.array([1.0]))[0] / found.factor("augmented", np.array([0.0]))[0] == (
        pytest.approx(3.0, rel=0.01)
    )


def test_a_size_that_was_zero_or_one_and_is_a_thousand_now_is_no_catastrophe() -> None:
    sweep = nightly(space={"warmup": [1000]}, sizes=["warmup"])
    rows = [seen(hours=1.0 + warmup, point={"warmup": warmup}) for warmup in (0, 1)]
    found = known(sweep, table(rows * 50, HISTORY))
    assert 1 < found.factor("warmup", np.array([1000.0]))[0] < 10


def test_data_of_which_nobody_knows_the_bytes_is_all_alike() -> None:
    found = learn(nightly(), [0, 0], table([seen(hours=2.0, size=0)] * 9, HISTORY))
    assert found is not None
    assert found.factor(BYTES, np.array([0.0, 0.0])).tolist() == [1.0, 1.0]


def test_tasks_that_lack_a_size_parameter_or_took_no_time_teach_nothing() -> None:
    rows = [seen(hours=2.0)] * 6 + [seen(hours=90.0, point={"lr": 0.1})] * 60 + [seen(hours=0.0)] * 60
    found = known(nightly(), table(rows, HISTORY))
    assert found.types[G5].tasks == 6
    assert expected(found, G5, GB, 1, 1) == pytest.approx(2.0)


def test_a_hyperparameter_that_was_another_once_counts() -> None:
    rows = [seen(hours=2.0, point={"epochs": 1, "depth": 10})] * 30
    rows += [seen(hours=4.0, point={"epochs": 1, "depth": 20})] * 10
    found = known(nightly(train__hyperparameters={"depth": 20, "note": "text"}), table(rows, HISTORY))
    assert expected(found, G5, GB, 1, 1) * found.factor("depth", np.array([20.0]))[0] == pytest.approx(4.0, rel=0.02)


ROWS = st.builds(
    seen,
    instance_type=st.sampled_from([G5, P3, UNHEARD]),
    hours=st.one_of(st.floats(1e-6, 1e6), st.sampled_from([0.0, 1.0])),
    size=st.one_of(st.just(0), st.integers(1, 10**15)),
    point=st.dictionaries(
        st.sampled_from(["epochs", "depth"]),
        st.one_of(st.floats(-1e6, 1e6), st.integers(0, 3), st.booleans()),
        min_size=1,
    ),
    count=st.integers(1, 64),
)


@settings(max_examples=examples(200))
@given(st.lists(ROWS, max_size=40), st.lists(st.integers(0, 10**15), min_size=1, max_size=3))
def test_whatever_was_seen_hours_are_numbers_above_zero(rows: list[tuple[Any, ...]], datasets: list[int]) -> None:
    sweep = nightly(train__hyperparameters={"depth": 3})
    found = learn(sweep, datasets, table(rows, HISTORY))
    if found is None:
        return
    hours = found.base_hours * found.factor("epochs", np.array([1.0, 2.0])) * found.factor("depth", np.array([3.0]))
    for times in (
        hours,
        found.factor(BYTES, np.array(datasets, dtype=float)),
        found.factor(INSTANCES, np.array([2.0])),
    ):
        assert (times > 0).all()
        assert np.isfinite(times).all()
    for its in found.types.values():
        assert 0 < its.low <= its.high < np.inf
        assert 0 < its.pace < np.inf
