"""Quantities as Kubernetes writes them, such as 500m, 6Gi or 4: read as numbers.

kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity
"""

from __future__ import annotations

import re

_FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?")
_FACTORS = {"n": 1e-9, "u": 1e-6, "m": 1e-3}
_FACTORS |= {letter: 1000.0 ** (n + 1) for n, letter in enumerate("kMGTPE")}
_FACTORS |= {f"{letter}i": 1024.0 ** (n + 1) for n, letter in enumerate("KMGTPE")}


def read_quantity(text: object) -> float:
    """Return the number that a quantity stands for. Raise ValueError for what is none."""
    found = _FORM.fullmatch(str(text))
    if found is None:
        raise ValueError(f"no quantity of Kubernetes: {text!r}")
    return float(found[1]) * _FACTORS.get(found[2] or "", 1.0) * 10.0 ** int(found[3] or 0)
