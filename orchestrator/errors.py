"""Every error that a user can meet. Each is one line: what is wrong, where, and what to do.

SweepError                     exit 1
├── UsageError                 exit 2   a bad file, option or name
│   ├── SpecError                       sweep.yaml, at file:line:column
│   ├── SettingsError                   a setting missing or unreadable
│   ├── CatalogError                    rows that cannot be loaded, a schema behind or ahead
│   │   └── DatabaseAway                    the database does not answer, or is locked
│   ├── NewerVersion                    a stored object that only a newer sweep can read
│   └── InfeasibleError                 no place can run a task, and why
│       └── TooFewSlots        exit 6   the tasks do not fit into the quotas in time
├── AccessError                exit 4   credentials or permission
│   ├── NoCredentials
│   └── AccessDenied
├── CloudError                 exit 1   AWS said no, or nothing
│   ├── NotFound
│   ├── AlreadyExists                   a conditional write lost, a name in use
│   ├── InvalidRequest                  AWS calls the request wrong: never retried
│   │   └── Damaged            exit 5   a stored object that cannot be understood
│   ├── Throttled                       slow down, then again
│   ├── QuotaExceeded                   our quota: waits
│   ├── NoCapacity                      AWS has none now: another place may
│   └── Unreachable                     endpoint down, Region down, time-out
├── RunFailed                  exit 1   every task of the run failed
├── PartlyFailed               exit 5   some did
└── Refused                    exit 6   by budget, quota or a stale plan
    └── OverBudget                      by the budget of a workload or an owner

Errors of AWS become these in `aws/errors.py`, and the command line shows them in `cli/errors.py`.
"""

from __future__ import annotations

from typing import ClassVar


class SweepError(Exception):
    """Says what is wrong (`message`), where it is (`where`), and what to do about it (`hint`)."""

    exit_code: ClassVar[int] = 1
    """The code that `sweep` ends with."""

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


class DatabaseAway(CatalogError):
    pass


class NewerVersion(UsageError):
    pass


class InfeasibleError(UsageError):
    pass


class TooFewSlots(InfeasibleError):
    exit_code = 6


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


class Damaged(InvalidRequest):
    exit_code = 5


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


class OverBudget(Refused):
    pass


def said_plainly(words: str) -> str:
    """Return what a library says of a wrong value, without its name for the kind of error."""
    return words.replace("Value error, ", "", 1)


_MOST_CHOICES = 30


def did_you_mean(word: str, choices: list[str]) -> str:
    """Return a hint that names the nearest choice, or, if none is near, the first of them: there may be thousands."""
    from difflib import get_close_matches

    near = get_close_matches(word, choices, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    if not choices:
        return ""
    hint = f"choose from: {', '.join(choices[:_MOST_CHOICES])}"
    return hint if len(choices) <= _MOST_CHOICES else f"{hint} and {len(choices) - _MOST_CHOICES:,} more"
