"""A month of nights on the local cloud's clock: runs, dollars, champions and notices are exactly what they should be.

Nothing is played but the ticks: conductors, launchers and trainings are processes, and each conductor is killed at its
first new note. `docs/nightly.md` says what should come of it, and `books.py` counts it in a few lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.localcloud import LocalCloud
from tests.nightly.on_the_cloud.audit import check
from tests.nightly.on_the_cloud.place import Place
from tests.nightly.on_the_cloud.story import play

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fixtures.database import Server

pytestmark = pytest.mark.long


@pytest.fixture
def cloud_of_its_own(tmp_path: Path) -> Iterator[LocalCloud]:
    with LocalCloud(tmp_path / "cloud") as cloud:
        yield cloud


def test_a_month_on_a_shared_database(cloud_of_its_own: LocalCloud, tmp_path: Path, postgresql: Server) -> None:
    with postgresql.database("migrated") as url:
        (tmp_path / "work").mkdir()
        place = Place(cloud_of_its_own, tmp_path / "work", url)
        check(place, play(place, -18, 24))
        assert place.deaths > 80
        kinds = {kind for kind, _ in place.books.told}
        assert kinds == {"finished", "failed", "promoted", "refused", "budget", "alarm"}
        assert set(place.books.ends.values()) == {0, 5, 6}


def test_a_week_on_pushed_catalogs(cloud_of_its_own: LocalCloud, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    place = Place(cloud_of_its_own, tmp_path / "work", "")
    check(place, play(place, -3, 7))
    assert place.deaths > 20
