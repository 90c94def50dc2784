"""What a log reports is found, and however long the log, the curve stays short."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.training.report import report
from orchestrator.wire.curve import MOST_METRICS, MOST_POINTS, MOST_POINTS_OF_TASK, Curves, decode, report_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable


def points(curves: Curves) -> dict[str, list[tuple[float, float]]]:
    return {name: decode(text) for name, text in curves.encoded().items()}


def read(lines: Iterable[str]) -> Curves:
    curves = Curves()
    curves.read(lines, {})
    return curves


@given(
    st.integers(0, 10**9),
    st.dictionaries(
        st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="="), min_size=1, max_size=20).filter(
            lambda name: name != "step"
        ),
        st.floats(allow_nan=False, allow_infinity=False, width=32),
        min_size=1,
        max_size=5,
    ),
)
def test_what_report_prints_is_read_again(step: int, metrics: dict[str, float]) -> None:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        report(step=step, **metrics)
    curves = read(out.getvalue().splitlines())
    assert curves.last == {name: pytest.approx(value, rel=1e-9) for name, value in metrics.items()}
    assert {curve[-1][0] for curve in points(curves).values()} == {step}
    for name, value in metrics.items():
        found = re.search(report_pattern(name), out.getvalue())
        assert found
        assert float(found[1]) == pytest.approx(value, rel=1e-9)


def test_launchers_and_progress_bars_may_write_into_the_same_line() -> None:
    curves = read(
        [
            "[1,0]<stdout>:[sweep] step=1 loss=0.5",
            "epoch 2:  50%|#####     |\r[sweep] step=2 loss=0.25",
            "2026-11-20 INFO nothing to see: loss=7",
            "[sweep]",
            "[sweep] nonsense",
        ]
    )
    assert points(curves) == {"loss": [(1, 0.5), (2, 0.25)]}


def test_a_name_that_ends_like_another_is_not_taken_for_it() -> None:
    line = "[sweep] step=1 val_loss=2 train/loss=3 loss=1"
    assert read([line]).last == {"val_loss": 2, "train/loss": 3, "loss": 1}
    assert {name: re.findall(report_pattern(name), line) for name in ("loss", "val_loss")} == {
        "loss": ["1"],
        "val_loss": ["2"],
    }


def test_nan_and_infinity_are_no_points() -> None:
    assert points(read(["[sweep] step=1 loss=nan a=1", "[sweep] step=2 loss=inf a=-inf"])) == {"a": [(1, 1)]}


def test_without_steps_reports_are_counted() -> None:
    assert points(read(["[sweep] loss=3", "[sweep] loss=2", "[sweep] loss=1"])) == {"loss": [(1, 3), (2, 2), (3, 1)]}


def test_a_log_read_from_its_beginning_again_is_counted_from_the_beginning() -> None:
    curves = read(["[sweep] loss=3", "[sweep] loss=2"])
    curves.begin_log()
    curves.read(["[sweep] loss=3", "[sweep] loss=2", "[sweep] loss=1"], {})
    assert points(curves) == {"loss": [(1, 3), (2, 2), (3, 1)]}


def test_metrics_with_a_regex_are_found_in_other_lines() -> None:
    curves = Curves()
    regexes = {"loss": re.compile(r"loss: (\d+|none)"), "acc": re.compile(r"acc(?: (\d+))?")}
    curves.read(["loss: 3 acc 5", "loss: none", "acc", "[sweep] step=9 other=1 loss: 7", "loss: 2"], regexes)
    assert points(curves) == {"loss": [(1, 3), (2, 2)], "acc": [(1, 5)], "other": [(9, 1)]}


def test_a_regex_is_not_let_loose_on_a_line_without_an_end() -> None:
    curves = Curves()
    curves.read(["x" * 100_000 + "loss=3"], {"loss": re.compile("loss=(.)")})
    assert points(curves) == {}


def test_steps_lived_again_after_a_checkpoint_count_the_second_time() -> None:
    first = [f"[sweep] step={step} loss={10 - step}" for step in range(1, 7)]
    second = [f"[sweep] step={step} loss={20 - step}" for step in range(5, 9)]
    expected = [(1, 9), (2, 8), (3, 7), (4, 6), (5, 15), (6, 14), (7, 13), (8, 12)]
    assert points(read(first + second)) == {"loss": expected}


def test_a_later_look_goes_on_from_what_is_known() -> None:
    known = read(["[sweep] step=1 loss=3", "[sweep] step=2 loss=2"]).encoded()
    curves = Curves(known)
    curves.read(["[sweep] step=2 loss=1.5", "[sweep] step=3 loss=1"], {})
    assert points(curves) == {"loss": [(1, 3), (2, 1.5), (3, 1)]}


@given(st.integers(1, 3_000), st.integers(1, 4))
def test_a_curve_is_short_and_keeps_its_ends_however_long_the_log(steps: int, every: int) -> None:
    lines = (f"[sweep] step={step} loss={step}" for step in range(every, every * steps + 1, every))
    curve = points(read(lines))["loss"]
    assert len(curve) == steps if steps <= MOST_POINTS else MOST_POINTS // 2 <= len(curve) <= MOST_POINTS
    assert (curve[0], curve[-1]) == ((every, every), (every * steps, every * steps))
    assert all(a[0] < b[0] for a, b in pairwise(curve))
    widest = max(b[0] - a[0] for a, b in pairwise(curve)) if steps > 1 else 0
    assert widest <= every * max(1, 4 * steps / MOST_POINTS)


def test_a_task_of_many_metrics_stays_small() -> None:
    line = " ".join(f"metric{number}={number}" for number in range(100))
    curves = read(f"[sweep] step={step} {line}" for step in range(500))
    assert len(points(curves)) == MOST_METRICS
    assert sum(map(len, points(curves).values())) <= MOST_POINTS_OF_TASK
    assert len(json.dumps(curves.encoded())) < 10_000


def test_long_numbers_are_cut_to_what_a_picture_shows() -> None:
    assert points(read(["[sweep] step=1234567 loss=0.123456789"])) == {"loss": [(1234567, 0.123457)]}


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
def test_a_metric_that_has_run_away_has_no_last_value(word: str) -> None:
    curves = read(["[sweep] step=1 loss=0.5 accuracy=0.9", f"[sweep] step=2 loss={word} accuracy=0.8"])
    assert (curves.last, curves.diverged) == ({"accuracy": 0.8}, {"loss"})
    assert points(curves)["loss"] == [(1, 0.5)]


@pytest.mark.parametrize("line", ["loss=nan", "loss=-inf acc=0.5", "step 3: loss=NaN, lr=0.1", "loss=Infinity"])
def test_a_regex_for_numbers_alone_sees_that_there_is_none(line: str) -> None:
    curves = Curves()
    regexes = {"loss": re.compile("loss=([-+.0-9e]+)"), "lr": re.compile("lr=([0-9.]+)")}
    curves.read(["loss=0.5", line], regexes)
    assert (curves.diverged, curves.not_finite) == ({"loss"}, {"loss"})
    assert "loss" not in curves.last


@pytest.mark.parametrize("line", ["info: loss of nan", "grad=nan loss=0.25", "loss_nan=1", "nan", "xloss=banana"])
def test_a_word_elsewhere_is_no_value(line: str) -> None:
    curves = Curves()
    curves.read(["loss=0.5", line], {"loss": re.compile("loss=([0-9.]+)")})
    assert curves.diverged == set()


def test_one_that_comes_back_has() -> None:
    curves = read(["[sweep] step=1 loss=nan", "[sweep] step=2 loss=0.5"])
    assert (curves.last, curves.diverged) == ({"loss": 0.5}, set())
