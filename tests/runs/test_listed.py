"""Which runs there are, as a machine says that has never looked at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import Unreachable
from orchestrator.orchestrator import NEW_LOOKS, Orchestrator
from orchestrator.settings import Settings
from tests.runs.bench import ACCOUNT, plan

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runs.bench import Desk


@pytest.fixture
def there(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Orchestrator:
    """The team's Orchestrator with an empty database, and the bucket of one run that is done."""
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    for task in (0, 1):
        desk.launch(anchor, task)
    settings = Settings(database=f"sqlite:///{tmp_path / 'theirs.db'}", bucket=ACCOUNT.bucket)
    monkeypatch.setattr(Orchestrator, "_cloud_of", lambda *_: desk.cloud())
    return Orchestrator(settings)


def listed(there: Orchestrator) -> list[tuple[str, str, float | None]]:
    return [(row.name, row.state, row.usd) for row in there.runs()]


def test_runs_that_only_the_bucket_knows_are_looked_at(there: Orchestrator) -> None:
    assert listed(there) == [("nightly", "done", 3.6)]


def test_how_a_run_stands_that_cannot_be_looked_at_is_not_known(
    there: Orchestrator, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert there._runs.names() == ["nightly"]

    def unreachable(*_: Any) -> None:
        raise Unreachable("no answer")

    monkeypatch.setattr(desk.bucket, "level", unreachable)
    assert listed(there) == [("nightly", "unknown", None)]


def test_only_the_newest_are_looked_at(there: Orchestrator, desk: Desk) -> None:
    for number in range(NEW_LOOKS):
        desk.submit(desk.anchor(name=f"run-{number}", created_at=2e6 + number))
    *looked_at, oldest = listed(there)
    assert [state for _, state, _ in looked_at] == ["pending"] * NEW_LOOKS
    assert oldest == ("nightly", "unknown", None)
    assert listed(there)[-1] == ("nightly", "done", 3.6)  # the next time it is its turn
