"""Casts of the storm are drawn, or chosen, from those that can play here."""

from __future__ import annotations

import importlib.util
from collections import Counter
from random import Random

import pytest

from tests.chaos.__main__ import main
from tests.chaos.report import Report
from tests.chaos.storm.casts import CASTS, EVERY, MOVES_AT, draw_cast, draw_story, find_able
from tests.chaos.storm.play import why_nothing_is_shown


@pytest.mark.parametrize("name", [cast.name for cast, _ in CASTS if cast.parallel != "torchrun"])
def test_a_chosen_cast_plays_in_every_story(name: str) -> None:
    able = find_able(has_old=True, only=name)
    assert {draw_cast(able, Random(seed)).name for seed in range(20)} == {name}


def test_every_cast_that_can_play_is_drawn_some_time() -> None:
    able = find_able(has_old=True)
    chance = Random(1)
    assert {draw_cast(able, chance) for _ in range(2_000)} == {cast for cast, _ in able}


def test_every_second_story_is_over_all_platforms_and_the_older_version_plays_in_the_others() -> None:
    able, chance = find_able(has_old=True), Random(1)
    drawn = [draw_story(able, number, chance) for number in range(400)]
    assert all(cast.moves for cast, _ in drawn[MOVES_AT::EVERY])
    for number, (cast, platforms) in enumerate(drawn):
        assert platforms == (cast.platforms or (("sagemaker", "ec2", "eks") if number % 2 else ("sagemaker",)))
    assert {cast for cast, _ in drawn[::2]} == {cast for cast, _ in able}
    assert {cast for cast, _ in drawn[1::2]} == {cast for cast, _ in able if "old" not in cast.name}
    old = find_able(has_old=True, only="an older version")
    assert {draw_story(old, number, chance)[1] for number in range(4)} == {("sagemaker",)}


def test_a_campaign_whose_tasks_were_to_move_and_never_did_shows_nothing() -> None:
    assert why_nothing_is_shown(Counter({"moves": 3}), Report(moves=Counter({"ec2": 1}))) == ""
    assert why_nothing_is_shown(Counter({"moves": 2, "mpi": 9}), Report()) == ""
    assert "never moved" in why_nothing_is_shown(Counter({"moves": 3}), Report())


def test_without_the_older_version_nobody_plays_it() -> None:
    able = [cast for cast, _ in find_able(has_old=False)]
    assert able
    assert not any("old" in cast.machines or cast.name == "older launchers" for cast in able)
    with pytest.raises(SystemExit, match="'an older version' cannot play here"):
        find_able(has_old=False, only="an older version")


def test_without_pytorch_nothing_runs_under_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert all(cast.parallel != "torchrun" for cast, _ in find_able(has_old=True))
    with pytest.raises(SystemExit, match="PyTorch"):
        find_able(has_old=True, only="torchrun with checkpoints")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cast", "nobody", "--part", "storm"], "invalid choice: 'nobody'"),
        (["--cast", "mpi"], "--cast is of the storm: add --part storm"),
    ],
)
def test_a_cast_that_is_none_or_of_no_storm_is_refused(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setattr("sys.argv", ["chaos", *words])
    with pytest.raises(SystemExit):
        main()
    assert said in capsys.readouterr().err
