"""A model says what it was trained on: by the catalog, or else by what lies there, if that is still the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.models import data_mark
from orchestrator.models.models import Models
from orchestrator.nightly.picking import marks as nights
from orchestrator.runs.known.rows import Known
from orchestrator.wire.result import TaskState
from tests.launcher.fakes import Bucket
from tests.models.bench import finished, models

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from orchestrator.aws.s3 import Listed
    from tests.runs.bench import Desk

ALPS = "s3://data-us-east-1/alps/"
BEGAN = 1000.0


class Dated(Bucket):
    """The Region's bucket, all of whose objects were written at one moment."""

    written = BEGAN - 1

    def list(self, prefix: str, after: str = "") -> Iterator[Listed]:
        for item in super().list(prefix, after):
            yield replace(item, modified_at=self.written)


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Dated:
    """What lies in the Region, as everybody lists it."""
    made = Dated()
    made.put_once("alps/", b"")
    made.put_once("alps/drive-1.bin", b"one")
    made.put_once("elsewhere/drive-2.bin", b"two")
    for room in (data_mark, nights):
        monkeypatch.setattr(room, "S3", lambda *_: made)
    monkeypatch.setattr("tests.runs.bench.FakeCloud.clients", None, raising=False)
    return made


def promoted_mark(desk: Desk) -> str:
    """The mark of the data of the champion of a catalog that knows no marks."""
    run = finished(desk, "monday", [0.5])
    (known,) = run.ledger.known(run.name)
    begun = replace(known.result, outcomes=(replace(known.result.outcomes[0], started_at=BEGAN),))
    run.ledger.save(run.name, [Known("etag-2", begun, TaskState.DONE)])
    decision = Models(desk.cloud(), "ada", lambda *_: "").challenge(run)
    assert decision.promoted
    return decision.challenger.data_mark


def test_without_a_mark_in_the_catalog_it_is_that_of_nights(desk: Desk, data: Dated) -> None:
    assert data
    mark = promoted_mark(desk)
    clients: Any = None
    assert mark == nights.read_marks(clients, [("us-east-1", ALPS)]).by_uri[ALPS] != ""


def test_data_that_changed_since_the_training_began_has_no_mark(
    desk: Desk, data: Dated, caplog: pytest.LogCaptureFixture
) -> None:
    data.written = BEGAN + 1
    assert promoted_mark(desk) == ""
    assert f"{ALPS} has changed since the training began" in caplog.text


def test_a_folder_in_which_nothing_lies_has_no_mark(desk: Desk, data: Dated) -> None:
    data.delete("alps/drive-1.bin")
    assert promoted_mark(desk) == ""


def test_a_mark_of_the_catalog_is_taken_as_it_is(desk: Desk, data: Dated) -> None:
    data.written = BEGAN + 1
    found = models(desk).challenge(finished(desk, "monday", [0.5])).challenger
    assert found.data_mark == "mark of alps@1 in us-east-1"
