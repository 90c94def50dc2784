"""Nights that start from the champion: its parameters are tried on what is new, and trainings are handed its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.models.promotion import Promotion, TrainedModel
from orchestrator.models.shelf import Shelf
from orchestrator.wire.names import ModelKeys
from tests.nightly.test_nights import night, utc
from tests.nightly.world import Killed, World

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "s3://team-eu-west-1/runs/monday/3/model.tar.gz"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World.make(tmp_path, monkeypatch)
    made.moment = utc("2026-11-20 12:00")
    made.lies("oslo", "a", "eu-central-1", "eu-west-1")
    return made


def crown(world: World, number: int, **point: Any) -> None:
    """Make a model with these parameters the champion."""
    model = TrainedModel(
        "steering", "monday", 3, 1, MODEL, "eu-west-1", metric="loss", maximize=False, score=0.1, point=point
    )
    assert Shelf(world.bucket, "steering").add(Promotion(number, model, "challenge", "", "ada", 1.0, origin=number))  # type: ignore[arg-type]


def rates(world: World, since: int = 0) -> list[tuple[str, float]]:
    return [(each.campaign, each.lr) for each in world.trained[since:]]


def test_the_champion_s_parameters_are_among_the_tasks_and_its_model_is_a_channel(world: World) -> None:
    world.schedule(sweep={"warm_start": "champion"})
    crown(world, 1, lr=0.3)
    (done,) = night(world, "2026-11-21")
    assert done.end.why == "3 of 3 tasks done in nightly-20261121"
    assert sorted(rates(world)) == [("oslo", 0.01), ("oslo", 0.1), ("oslo", 0.3)]
    sweep = world.runs["nightly-20261121"].plan.sweep
    assert sweep.train.channels == {"champion": "s3://team-{region}/champions/steering/1/"}
    assert (sweep.warm.promotion, sweep.warm.artifact, sweep.warm.region) == (1, MODEL, "eu-west-1")


def test_without_a_champion_a_night_starts_cold(world: World) -> None:
    world.schedule(sweep={"warm_start": "champion"})
    night(world, "2026-11-21")
    assert len(world.trained) == 2
    assert world.runs["nightly-20261121"].plan.sweep.warm is None


def test_parameters_alone_hand_over_no_model(world: World) -> None:
    world.schedule(sweep={"warm_start": "parameters"})
    crown(world, 1, lr=0.3)
    night(world, "2026-11-21")
    assert len(world.trained) == 3
    assert world.runs["nightly-20261121"].plan.sweep.train.channels == {}


def test_a_new_champion_alone_is_no_reason_to_train(world: World) -> None:
    world.schedule(sweep={"warm_start": "champion"})
    night(world, "2026-11-21")
    crown(world, 1, lr=0.3)
    (quiet,) = night(world, "2026-11-22")
    assert quiet.end.why == "nothing new: all 2 tasks are trained already"
    world.lies("rome", "b")
    night(world, "2026-11-23")
    assert sorted(rates(world, 2)) == [("rome", 0.01), ("rome", 0.1), ("rome", 0.3)]


def test_what_failed_is_trained_alone_and_starts_from_the_champion_too(world: World) -> None:
    world.schedule(sweep={"warm_start": "champion"})
    crown(world, 1, lr=0.3)
    world.fails = lambda _, lr: lr == 0.1
    night(world, "2026-11-21")
    world.fails = lambda *_: False
    night(world, "2026-11-22")
    assert rates(world, 3) == [("oslo", 0.1)]  # the champion's parameters were tried on this data already
    assert "champion" in world.runs["nightly-20261122"].plan.sweep.train.channels


def test_whoever_takes_a_night_up_starts_from_the_champion_that_it_was_picked_with(world: World) -> None:
    world.schedule(sweep={"warm_start": "champion"})
    crown(world, 1, lr=0.3)
    world.push()

    def die(what: str) -> None:
        if any(key.endswith("/picked.json") for key in world.bucket.objects):
            raise Killed(what)

    world.bucket.before = die
    with pytest.raises(Killed):
        night(world, "2026-11-21")
    world.bucket.before = lambda _: None
    assert world.trained == []
    crown(world, 2, lr=0.4)
    night(world, "2026-11-21")
    assert sorted(rates(world)) == [("oslo", 0.01), ("oslo", 0.1), ("oslo", 0.3)]


def test_a_champion_that_cannot_be_understood_is_named_and_the_night_starts_cold(world: World) -> None:
    world.schedule(sweep={"warm_start": "champion"})
    key = ModelKeys("steering").promotion(1)
    world.bucket.put_once(key, b"[]")
    (done,) = night(world, "2026-11-21")
    assert done.end.exit == 0
    assert len(world.trained) == 2
    (note,) = [
        note
        for entry in [world.conductor()._shelf.night("nightly", "2026-11-21")]
        for note in world.conductor().notes(entry).read()  # type: ignore[arg-type]
        if note.action.kind == "pick" and note.done
    ]
    assert f"it starts cold: s3://control/{key}: cannot be understood" in note.done.value["why"]  # type: ignore[union-attr]
