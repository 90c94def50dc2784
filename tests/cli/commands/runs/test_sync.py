from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

pytestmark = pytest.mark.usefixtures("team")


def test_sync_counts_what_changed(sweep: Sweep) -> None:
    assert sweep("sync").out == "nightly: 2 tasks changed\n"
    assert json.loads(sweep("sync", "--json").out) == {"run": "nightly", "changed": 2}
