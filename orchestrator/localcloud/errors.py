"""The error of a local cloud that cannot start or be found, in one line that a person can act on."""

from __future__ import annotations


class LocalCloudError(Exception):
    """The local cloud cannot start, or is not there."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
