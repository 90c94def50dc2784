"""Writes two amounts of dollars so that they can be told apart."""

from __future__ import annotations


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Return two amounts with as many digits as they need to look different: two, four or six."""
    for digits in (2, 4, 6):
        texts = (f"${one:,.{digits}f}", f"${other:,.{digits}f}")
        if texts[0] != texts[1]:
            break
    return texts
