"""The company of these tests, and who looks at what really becomes of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.runs.ending import cancel
from tests.e2e.three_platforms.company import Company
from tests.fixtures.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from orchestrator.localcloud import LocalCloud


@pytest.fixture
def company(
    tmp_path: Path, client: Callable[..., Any], cloud_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Company:
    monkeypatch.setattr(cancel, "AGAIN_S", 0.5)
    made = Company(tmp_path, client, cloud_environment)
    made.open()
    return made


@pytest.fixture
def witness(cloud: LocalCloud) -> Iterator[Witness]:
    yield Witness(cloud)
    cloud.steering.remove()
