"""An account that has nothing yet, in this process, and settings that name what it should have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.infra.doctor.doctor import in_force
from orchestrator.infra.doctor.subject import Need, Subject
from tests.infra.doctor.account import ACCOUNT, SETTINGS

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients


@pytest.fixture
def subject(clients: Clients) -> Subject:
    return Subject(SETTINGS, clients, in_force(SETTINGS, ACCOUNT), Need())
