"""How often spot is taken back, by the Spot Advisor's file: whatever the file holds, one line says what is wrong."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.aws.session import Clients
from orchestrator.errors import CatalogError, SweepError, Unreachable
from orchestrator.platforms.sagemaker.feeds import spot_advice
from orchestrator.platforms.sagemaker.feeds.spot_advice import rate_of

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.platforms.feed import Reading

NOW = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
RANGES = [
    {"index": 0, "label": "<5%", "dots": 0, "max": 5},
    {"index": 1, "label": "5-10%", "dots": 1, "max": 11},
    {"index": 4, "label": ">20%", "dots": 4, "max": 100},
]


def advised(of_linux: dict[str, Any], folder: Path, region: str = "us-east-1") -> Reading:
    file = folder / "advice.json"
    types = {"Linux": of_linux, "Windows": {"g5.xlarge": {"s": 10, "r": 4}}}
    file.write_text(json.dumps({"ranges": RANGES, "spot_advisor": {"us-east-1": types}}))
    return spot_advice.feed(str(file)).read(Clients(), region, NOW + timedelta(seconds=file.stat().st_ino))


def test_a_type_is_taken_back_as_often_as_its_band_says(tmp_path: Path) -> None:
    """Of 1,000 instances in the band 5-10 %, about 75 are gone after a month of 730 hours."""
    (row,) = advised({"g5.xlarge": {"s": 70, "r": 1}}, tmp_path).rows
    rate: Any = row["per_hour"]
    assert (row["platform"], row["region"], row["instance_type"]) == ("ec2", "us-east-1", "g5.xlarge")
    assert (1 - rate) ** 730 == pytest.approx(1 - 0.075, rel=1e-4)


def test_bands_are_in_order() -> None:
    rates = [rate_of(label) or 0 for label in ("<5%", "5-10%", "10-15%", "15-20%", ">20%")]
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(0.025 / 730, rel=0.02)


@pytest.mark.parametrize("label", ["", "often", "%", ">100%", "1-2-3"])
def test_a_label_that_is_no_band_has_no_rate(label: str) -> None:
    assert rate_of(label) is None


def test_a_band_that_the_file_does_not_tell_is_left_out(tmp_path: Path) -> None:
    found = advised({"g5.xlarge": {"s": 1, "r": 0}, "g6.xlarge": {"s": 1, "r": 7}}, tmp_path)
    assert [row["instance_type"] for row in found.rows] == ["g5.xlarge"]
    assert found.left_out == ("g6.xlarge is in the band 7, which the file does not tell",)


def test_a_region_that_the_file_does_not_have_has_no_rows(tmp_path: Path) -> None:
    assert advised({"g5.xlarge": {"s": 1, "r": 0}}, tmp_path, "eu-west-1").rows == ()


def test_the_file_is_read_once_for_all_regions(tmp_path: Path) -> None:
    advised({"g5.xlarge": {"s": 1, "r": 0}}, tmp_path)
    at = NOW + timedelta(seconds=(tmp_path / "advice.json").stat().st_ino)
    (tmp_path / "advice.json").unlink()
    assert spot_advice.feed(str(tmp_path / "advice.json")).read(Clients(), "us-east-1", at).rows


@pytest.mark.parametrize("text", ["", "<html>", "[]", "{}", '{"ranges": [], "spot_advisor": []}', "[" * 100_000])
def test_what_is_no_such_file_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "advice.json").write_text(text)
    with pytest.raises(CatalogError, match=r"advice\.json: is no file of the Spot Advisor") as caught:
        spot_advice.feed(str(tmp_path / "advice.json")).read(Clients(), "us-east-1", NOW)
    assert "\n" not in str(caught.value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    ranges=_JSON | st.lists(st.fixed_dictionaries({"index": _JSON, "label": _JSON}), max_size=3),
    advice=_JSON | st.dictionaries(st.just("us-east-1"), st.fixed_dictionaries({"Linux": _JSON})),
)
def test_a_file_of_any_shape_is_read_or_refused(ranges: Any, advice: Any) -> None:
    content = json.dumps({"ranges": ranges, "spot_advisor": advice}).encode()
    with suppress(CatalogError):
        spot_advice._parse(content, "here")


@pytest.mark.parametrize(
    ("address", "kind", "says"),
    [
        (
            "nowhere.json",
            CatalogError,
            r"nowhere\.json: cannot be read: No such file or directory \(mend spot_advisor\)",
        ),
        ("ftp://here/advice.json", CatalogError, "is neither a file nor an http address"),
        ("http://127.0.0.1:9/advice.json", Unreachable, "cannot be fetched: .* may name a file, or another address"),
        ("http://[::1/advice.json", Unreachable, "cannot be fetched"),
    ],
)
def test_an_address_that_leads_nowhere_is_told(address: str, kind: type[SweepError], says: str) -> None:
    with pytest.raises(kind, match=says):
        spot_advice.feed(address).read(Clients(), "us-east-1", NOW)


@pytest.mark.parametrize(
    ("date", "off"), [("Sun, 22 Nov 2020 12:00:00 GMT", True), ("yesterday", False), (None, False)]
)
def test_a_clock_that_is_wrong_is_told_before_it_dates_anything(date: str | None, off: bool) -> None:
    if off:
        with pytest.raises(
            CatalogError, match=r"this machine's clock is .* hours off \(set it: facts are dated by it\)"
        ):
            spot_advice._check_clock(date, "there")
    else:
        spot_advice._check_clock(date, "there")
