"""The tasks of a night are those that are not trained yet, and no others; data is what it is, not what it is called."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.nightly.picking.choose import MOST_PIECES, Dataset, Piece, choose, count_tasks, restrict
from orchestrator.nightly.picking.keys import task_key, task_keys, work_digest
from orchestrator.spec.sweep import Sweep

BODY: dict[str, Any] = {
    "name": "steering",
    "train": {"source": "src", "entry_point": "train.py", "image": "x:1", "metrics": {"loss": "loss=(.*)"}},
    "space": {"lr": [0.1, 0.01], "batch": [32, 64]},
    "where": {"instance_types": ["ml.c5.xlarge"]},
    "runtime": "0.1 * batch",
}
SWEEP = Sweep.model_validate(BODY)
POINTS = [SWEEP.points.point(number) for number in range(4)]


def data(*names: str) -> list[Dataset]:
    return [Dataset(name, "1", (f"mark-of-{name}",)) for name in names]


def done(dataset: Dataset, *numbers: int, work: str = "work") -> set[str]:
    return {task_key(work, dataset.marks[0], POINTS[number]) for number in numbers}


def test_at_first_everything_is_new() -> None:
    assert choose(SWEEP, data("oslo", "paris"), ["work"], set()) == [Piece(("oslo", "paris"), ())]


def test_nothing_is_chosen_twice() -> None:
    oslo, paris = data("oslo", "paris")
    trained = done(oslo, 0, 1, 2, 3) | done(paris, 0, 1, 2, 3)
    assert choose(SWEEP, [oslo, paris], ["work"], trained) == []


def test_new_bytes_under_one_name_are_new() -> None:
    (oslo,) = data("oslo")
    changed = Dataset("oslo", "1", ("other bytes",))
    assert choose(SWEEP, [changed], ["work"], done(oslo, 0, 1, 2, 3)) == [Piece(("oslo",), ())]


def test_the_same_bytes_under_another_name_are_not() -> None:
    (oslo,) = data("oslo")
    assert choose(SWEEP, [Dataset("oslo-again", "2", oslo.marks)], ["work"], done(oslo, 0, 1, 2, 3)) == []


def test_what_failed_is_trained_alone() -> None:
    oslo, paris = data("oslo", "paris")
    pieces = choose(SWEEP, [oslo, paris], ["work"], done(oslo, 0, 1, 3))
    assert pieces == [Piece(("paris",), ()), Piece(("oslo",), (2,))]
    assert [count_tasks(SWEEP, piece) for piece in pieces] == [4, 1]


def test_a_copy_whose_etags_differ_is_the_same_data() -> None:
    """What is trained is remembered under the marks of all replicas, and looked for under the first that answers."""
    keys = set(task_keys(["work"], ["here", "there"], POINTS[0]))
    assert task_key("work", "there", POINTS[0]) in keys
    only = Sweep.model_validate({**BODY, "space": {"lr": [POINTS[0]["lr"]], "batch": [POINTS[0]["batch"]]}})
    assert choose(only, [Dataset("oslo", "1", ("there",))], ["work"], keys) == []


@given(st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=30))
def test_the_pieces_have_what_is_missing_and_only_with_many_pieces_more(trained: list[set[int]]) -> None:
    datasets = data(*(f"d{n}" for n in range(len(trained))))
    keys = {key for dataset, numbers in zip(datasets, trained, strict=True) for key in done(dataset, *numbers)}
    pieces = choose(SWEEP, datasets, ["work"], keys)
    found = [(name, number) for piece in pieces for name in piece.campaigns for number in piece.points or range(4)]
    missing = {
        (dataset.campaign, number)
        for dataset, numbers in zip(datasets, trained, strict=True)
        for number in range(4)
        if number not in numbers
    }
    assert len(found) == len(set(found))
    assert missing <= set(found)
    assert len(pieces) <= MOST_PIECES
    if len({frozenset(numbers) for numbers in trained}) <= MOST_PIECES:
        assert missing == set(found)


@given(st.sets(st.integers(0, 3), min_size=1))
def test_a_sweep_of_some_points_has_the_same_tasks(numbers: set[int]) -> None:
    """Their keys are the same: what one night trained by itself, another one leaves out of the whole."""
    some = restrict(SWEEP, Piece(("oslo",), tuple(sorted(numbers))))
    points = [some.points.point(number) for number in range(len(some.points))]
    assert sorted(map(str, points)) == sorted(str(POINTS[number]) for number in numbers)
    assert some.data.campaigns == ["oslo"]


def changed(**parts: Any) -> Sweep:
    return Sweep.model_validate({**BODY, "train": {**BODY["train"], **parts}})


def test_whatever_changes_a_result_changes_the_key() -> None:
    """Code, image, hyperparameters, environment, command, fixed channels: each alone."""
    kinds = {
        "as it is": work_digest(SWEEP, "code", "x@sha256:1", {}),
        "code": work_digest(SWEEP, "code 2", "x@sha256:1", {}),
        "a moved tag": work_digest(SWEEP, "code", "x@sha256:2", {}),
        "hyperparameters": work_digest(changed(hyperparameters={"depth": 3}), "code", "x@sha256:1", {}),
        "environment": work_digest(changed(environment={"DEBUG": "1"}), "code", "x@sha256:1", {}),
        "channels": work_digest(changed(channels={"map": "s3://maps/berlin/"}), "code", "x@sha256:1", {"map": "mark"}),
        "a channel's bytes": work_digest(
            changed(channels={"map": "s3://maps/berlin/"}), "code", "x@sha256:1", {"map": "2"}
        ),
    }
    assert len(set(kinds.values())) == len(kinds)


def test_what_changes_no_result_changes_no_key() -> None:
    """How it is bought, how long it may run, what the workload is scheduled for."""
    other = Sweep.model_validate(
        {**BODY, "timeout": "2h", "retries": 3, "where": {"instance_types": ["ml.c5.2xlarge"]}, "runtime": 1.0}
    )
    assert work_digest(other, "code", "x@sha256:1", {}) == work_digest(SWEEP, "code", "x@sha256:1", {})
