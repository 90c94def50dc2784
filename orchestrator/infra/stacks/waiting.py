"""Waits for AWS, which tells nobody when it is done: it is asked again and again, ever more seldom."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from orchestrator.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
_FIRST_S, _LAST_S = 0.25, 5.0
_PATIENCE_S = 3600.0


def wait_for(ask: Callable[[], T], is_done: Callable[[T], bool], what: str) -> T:
    """Ask until the answer is done, and return that. Raise CloudError if it is not within an hour."""
    pause, until = _FIRST_S, time.monotonic() + _PATIENCE_S
    while not is_done(answer := ask()):
        if time.monotonic() > until:
            raise CloudError(f"{what} takes more than an hour", hint="look at it in AWS's console")
        time.sleep(pause)
        pause = min(pause * 1.5, _LAST_S)
    return answer
