"""Says in words how many instances a run may hold at once."""

from __future__ import annotations

from orchestrator.cli import formatting

EVERYTHING = "all"
"""What the limit of everything is called on the command line and in JSON."""


def limit_words(slots: dict[str, int]) -> str:
    """Return `limited to 8 slots, 2 in eu-west-1`."""
    words = [formatting.plural(slots[EVERYTHING], "slot")] if EVERYTHING in slots else []
    words += [f"{instances:,} in {what}" for what, instances in sorted(slots.items()) if what != EVERYTHING]
    return f"limited to {', '.join(words)}"


def limit_line(run: str, slots: dict[str, int]) -> str:
    """Return one line that says how a run is limited, and how that is changed."""
    return f"{limit_words(slots)}: `sweep limit {run} --slots` changes it, `--off` lifts it"
