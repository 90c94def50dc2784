"""The picture of what more instances are worth."""

from __future__ import annotations

from orchestrator.scaling.chart import draw_scaling
from orchestrator.scaling.figures import Timing, compare


def test_every_efficiency_is_written_beside_its_point_and_the_ideal_is_named() -> None:
    rows = compare([Timing(1, 1000.0, 1.0), Timing(2, 520.0, 1.04), Timing(4, 300.0, 1.2)])
    picture = draw_scaling(rows, "svg").decode()
    assert all(f">{words}<" in picture for words in ("100%", "96%", "83%", "ideal", "times as fast", "instances"))


def test_one_number_alone_is_drawn_too() -> None:
    assert b">100%<" in draw_scaling(compare([Timing(2, 60.0, 0.1)]), "svg")
