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
    return f"beside that: {', '.join([*parts, _stored_words(beside)])}"


def _stored_words(beside: Beside) -> str:
    stored = beside.stored
    if stored is None:
        return "what it keeps in S3 is not known"
    least = "" if stored.is_whole else "at least "
    kept = f"{least}{formatting.size(stored.bytes)} in S3"
    month = f"about {formatting.money(stored.usd_per_month)} a month"
    if not stored.unpriced:
        return f"{kept} {month}"
    asks = f"{', '.join(stored.unpriced)} {'asks' if len(stored.unpriced) == 1 else 'ask'}"
    before = f"{month}, and" if stored.usd_per_month else "at"
    asking = " ".join(f"--region {region}" for region in stored.unpriced)
    return f"{kept} {before} what {asks}, where no price is known (`sweep catalog refresh storage-prices {asking}`)"
