"""The tokens of version 2 of the metadata service: good for one instance, for as long as was asked for."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_S = 21_600
"""Seconds that a token may be good for: six hours."""


class Tokens:
    """Tokens of one instance, with the moments at which they end."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._good: dict[str, float] = {}
        self._lock = threading.Lock()

    def new(self, lasts: str) -> str | None:
        """Return a token that is good for so many seconds; None where that is no number from 1 to 21600."""
        if not lasts.isdecimal() or not 1 <= int(lasts) <= LONGEST_S:
            return None
        token = secrets.token_urlsafe(40)
        with self._lock:
            now = self._now()
            self._good = {each: end for each, end in self._good.items() if end > now}
            self._good[token] = now + int(lasts)
        return token

    def is_good(self, token: str) -> bool:
        """Return whether a token is one of this instance's, and not over."""
        with self._lock:
            return self._good.get(token, 0.0) > self._now()
