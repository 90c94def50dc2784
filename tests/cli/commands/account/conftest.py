"""An account that holds everybody to policies, for the tests of what everybody may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.localcloud import LocalCloud
from tests.cli.held_account import CONTROL, REGION, Account
from tests.fixtures.cloud import client_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def held_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """An account that has nothing yet, and holds everybody to policies."""
    folder = tmp_path_factory.mktemp("held")
    with LocalCloud(folder, regions=(CONTROL, REGION), empty=True, iam=True) as cloud:
        yield cloud


@pytest.fixture
def account(held_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> Account:
    return Account(held_cloud, client_of(held_cloud), monkeypatch)
