"""One thing that was looked at in an account, and how it stands. "Not granted" is not "not there"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import AccessDenied, CloudError

if TYPE_CHECKING:
    from collections.abc import Iterator

OK, WARNING, WRONG = "ok", "warning", "wrong"
PERMISSION, QUOTA, OTHER = 4, 6, 1
"""The exit codes of what can be wrong."""
DEPLOY = "sweep infra deploy"


@dataclass(frozen=True)
class Finding:
    """The state of one thing."""

    about: str
    """The thing, in a word or two, such as `bucket` or `role`."""
    where: str
    """The name of the very one, or a Region."""
    state: str
    """`ok`, `warning` or `wrong`."""
    message: str
    mend: str = ""
    """The command that mends it."""
    exit_code: int = 0


def ok(about: str, where: str, message: str) -> Finding:
    """Return that a thing is as it should be."""
    return Finding(about, where, OK, message)


def warning(about: str, where: str, message: str, mend: str = "") -> Finding:
    """Return that a thing works, but perhaps not as it is meant to, or could not be looked at."""
    return Finding(about, where, WARNING, message, mend)


def wrong(about: str, where: str, message: str, mend: str, exit_code: int = OTHER) -> Finding:
    """Return that a thing is in the way of a sweep, and the command that mends it."""
    return Finding(about, where, WRONG, message, mend, exit_code)


def carefully(about: str, where: str, found: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings, and in place of an error that ends a check what it says: "not granted" is not "not there"."""
    try:
        yield from found
    except AccessDenied as error:
        mend = "run `sweep doctor` as who deploys: those who submit need not, and may not, look at it"
        yield warning(about, error.where or where, f"not looked at, for that is not granted: {error.message}", mend)
    except CloudError as error:
        yield warning(about, error.where or where, f"not looked at: {error.message}", "sweep doctor")
