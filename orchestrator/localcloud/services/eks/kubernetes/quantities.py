"""Quantities as Kubernetes writes them: 500m, 4, 6Gi."""

from __future__ import annotations

import re
from fractions import Fraction

_FORM = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?")
_FACTORS = {"": Fraction(1), "m": Fraction(1, 1000)}
_FACTORS |= {letter: Fraction(1000 ** (n + 1)) for n, letter in enumerate("kMGTP")}
_FACTORS |= {f"{letter}i": Fraction(1024 ** (n + 1)) for n, letter in enumerate("KMGTP")}


def quantity(value: object) -> Fraction:
    """Return the number that a quantity stands for. Raise ValueError for what is none."""
    found = _FORM.fullmatch(str(value))
    if found is None:
        raise ValueError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    return Fraction(found[1]) * _FACTORS[found[2] or ""]


def shown(value: Fraction) -> str:
    """Return a number as a quantity."""
    return str(value) if value.denominator == 1 else f"{int(value * 1000)}m"
