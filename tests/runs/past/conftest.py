from __future__ import annotations

import pytest

from orchestrator.db.database import Database
from orchestrator.runs.known.ledger import Ledger
from tests.runs.past.history import Past


@pytest.fixture
def past(database_url: str) -> Past:
    return Past(Ledger(Database(database_url)))
