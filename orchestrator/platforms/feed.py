"""A feed: one of AWS's answers, turned into rows of the catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from orchestrator.aws.session import Clients


@dataclass(frozen=True)
class Reading:
    """What a feed read in one Region."""

    rows: tuple[Mapping[str, object], ...]
    """Rows in the columns of the catalog's files, all with the same columns."""
    left_out: tuple[str, ...] = ()
    """What AWS told, but is of no use, such as a price in another currency: a line each."""


@dataclass(frozen=True)
class Feed:
    """One of AWS's answers about a Region, as rows of one kind of catalog file."""

    name: str
    """What people call it by; the rows' `source`."""
    kind: str
    """The kind of catalog file that has these rows: prices, quotas, interruptions and others."""
    about: str
    """What it brings, in a few words."""
    actions: tuple[str, ...]
    """The IAM actions that it needs. They read only, and take no resource."""
    read: Callable[[Clients, str, datetime], Reading]
    """Asks AWS about a Region, at a moment. It raises the errors of `orchestrator.errors`, and writes nothing."""
    may_be_empty: bool = False
    """True if there may be nothing to tell of a Region that is well: no training runs. Else nothing is a failure."""
    everywhere: bool = False
    """True if it tells of all Regions at once. Then it is asked once, about the Region `*`."""
    at_home: bool = False
    """True if the control Region is asked about as well: runs keep what they leave behind there."""
    only_if_named: bool = False
    """True if it is read only where somebody names it: AWS answers it so many times a day."""
    is_spot: bool = False
    """True if it tells prices of the spot market: they are old within a day."""
    at: Callable[[str], Feed] | None = None
    """Makes the feed that reads its file elsewhere, for one that reads a public file: another URL, or a file here."""
