"""Stored objects are read whichever version of `sweep` wrote them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from orchestrator.wire.stored import restore
from orchestrator.wire.task import Lane, Purchase


@dataclass(frozen=True)
class Note:
    lane: Lane
    text: str
    pages: int = 1


LANE = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
BODY = {"lane": str(LANE), "text": "hello"}


def test_what_an_older_version_did_not_know_keeps_its_default() -> None:
    assert restore(Note, BODY, lane=Lane.parse) == Note(LANE, "hello")


def test_what_a_newer_version_has_added_is_ignored() -> None:
    assert restore(Note, BODY | {"pages": 3, "colour": "blue"}, lane=Lane.parse) == Note(LANE, "hello", 3)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"text": "hello"}, KeyError),
        ({"lane": str(LANE)}, TypeError),
        (BODY | {"lane": "nowhere"}, ValueError),
        ([], AttributeError),
    ],
)
def test_an_object_that_is_damaged_is_refused(body: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        restore(Note, body, lane=Lane.parse)
