"""The line of `sweep cost` about what a run costs beside its trainings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli import formatting

if TYPE_CHECKING:
    from orchestrator.api import Beside


def beside_line(beside: Beside) -> str:
    """Return in one line what launchers, data copies and storage cost. What is not known is said to be so."""
    parts = [f"launchers about {formatting.money(beside.launchers_usd)}"]
    if beside.copies:
        copies = "data copy" if beside.copies == 1 else "data copies"
        parts.append(f"{beside.copies:,} {copies} {formatting.money(beside.copies_usd)}")
    if beside.stored is None:
        parts.append("what it keeps in S3 is not known")
    else:
        least = "" if beside.stored.is_whole else "at least "
        month = formatting.money(beside.stored.usd_per_month)
        parts.append(f"{least}{formatting.size(beside.stored.bytes)} in S3 about {month} a month")
    return f"beside that: {', '.join(parts)}"
