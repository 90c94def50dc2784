"""Every error a user can meet, one line each: what is wrong, where, and what to do.

SweepError                     exit 1
├── UsageError                 exit 2   a bad file, option or name
│   ├── SpecError                       sweep.yaml, at file:line:column
│   ├── SettingsError                   a setting missing or unreadable
│   ├── CatalogError                    rows that cannot be loaded, a schema behind or ahead
│   └── InfeasibleError                 no place can run a task, and why
├── AccessError                exit 4   credentials or permission
│   ├── NoCredentials
│   └── AccessDenied
├── CloudError                 exit 1   AWS said no, or nothing
│   ├── NotFound
│   ├── AlreadyExists                   a conditional write lost, a name in use
│   ├── InvalidRequest                  AWS calls the request wrong: never retried
│   ├── Throttled                       slow down, then again
│   ├── QuotaExceeded                   our quota: waits
│   ├── NoCapacity                      AWS has none now: another place may
│   └── Unreachable                     endpoint down, Region down, time-out
├── RunFailed                  exit 1   every task of the run failed
├── PartlyFailed               exit 5   some did
└── Refused                    exit 6   by budget, quota or a stale plan
"""

from __future__ import annotations

from typing import ClassVar


class SweepError(Exception):
    """What is wrong, where it is, and what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        line = f"{self.where}: {self.message}" if self.where else self.message
        return f"{line} ({self.hint})" if self.hint else line


class UsageError(SweepError):
    exit_code = 2


class SpecError(UsageError):
    pass


class SettingsError(UsageError):
    pass


class CatalogError(UsageError):
    pass


class InfeasibleError(UsageError):
    pass


class AccessError(SweepError):
    exit_code = 4


class NoCredentials(AccessError):
    pass


class AccessDenied(AccessError):
    pass


class CloudError(SweepError):
    pass


class NotFound(CloudError):
    pass


class AlreadyExists(CloudError):
    pass


class InvalidRequest(CloudError):
    pass


class Throttled(CloudError):
    pass


class QuotaExceeded(CloudError):
    pass


class NoCapacity(CloudError):
    pass


class Unreachable(CloudError):
    pass


class RunFailed(SweepError):
    pass


class PartlyFailed(SweepError):
    exit_code = 5


class Refused(SweepError):
    exit_code = 6


_SHOWN = 30


def did_you_mean(word: str, choices: list[str]) -> str:
    """A hint naming the nearest choice, or the first of them when none is near: a catalog may know thousands."""
    from difflib import get_close_matches

    near = get_close_matches(word, choices, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    more = f" and {len(choices) - _SHOWN:,} more" if len(choices) > _SHOWN else ""
    return f"choose from: {', '.join(choices[:_SHOWN])}{more}" if choices else ""
