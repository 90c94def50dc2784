"""We send what the SageMaker SDK sends, but for differences that are written down; `make parity` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import sdk
from tests.parity import ours
from tests.parity.cases import CASES
from tests.parity.compare import DIFFERENCES, Answers, Row, answers, compared

if TYPE_CHECKING:
    from tests.parity.case import Case

pytestmark = pytest.mark.skipif(
    not sdk.installed(), reason="the SageMaker SDK is not installed ('make parity' does it)"
)


@pytest.fixture(scope="module")
def theirs() -> Answers:
    return answers(sdk.python())


@pytest.fixture(scope="module")
def rows(theirs: Answers) -> list[Row]:
    return compared(theirs)


def test_we_send_what_the_sdk_sends_but_for_what_is_written_down(rows: list[Row]) -> None:
    assert [row for row in rows if row.verdict == "WRONG"] == []


def test_every_case_is_compared_to_its_last_field(rows: list[Row]) -> None:
    assert {row.case for row in rows} == {case.name for case in CASES}
    sent = [case for case in CASES if not case.we_refuse and not case.they_refuse]
    fields = {(row.case, row.field) for row in rows if row.verdict == "same"}
    assert {(case.name, field) for case in sent for field in ("RoleArn", "TrainingJobName")} <= fields


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.field)
def test_every_difference_written_down_is_still_one(difference: Any, rows: list[Row]) -> None:
    assert any(row.verdict == "meant" and difference.covers(row.case, row.field) for row in rows)


def test_any_other_difference_is_wrong(monkeypatch: pytest.MonkeyPatch, theirs: Answers) -> None:
    right = ours.sent

    def without_a_volume(case: Case, images: dict[str, str]) -> dict[str, Any]:
        body = right(case, images)
        del body["ResourceConfig"]["VolumeSizeInGB"]
        return body

    monkeypatch.setattr(ours, "sent", without_a_volume)
    wrong = [row for row in compared(theirs) if row.verdict == "WRONG"]
    assert {row.field for row in wrong} == {"ResourceConfig.VolumeSizeInGB"}
    assert {row.case for row in wrong} == {case.name for case in CASES if not case.we_refuse and not case.they_refuse}
