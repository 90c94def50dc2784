"""How fast instance types are beside each other: a stated prior, where nobody has said or measured it."""

from __future__ import annotations

import re

EFFICIENCY = 2**-0.1
"""Share of its speed that a training keeps when its GPUs or instances double: n of them are n**0.9 times as fast."""

_GPU = {
    "p2": 0.25,  # K80
    "g4dn": 0.4,  # T4
    "g6": 0.65,  # L4
    "g5": 0.8,  # A10G
    "p3": 1.0,  # V100
    "p3dn": 1.0,
    "g6e": 1.6,  # L40S
    "p4d": 2.0,  # A100
    "p4de": 2.2,
    "p5": 4.0,  # H100
    "p5e": 4.4,  # H200
    "p5en": 4.4,
}
"""Of training in mixed precision, beside a V100; rounded from published benchmarks."""

_GPUS = {
    "p2": {"xlarge": 1, "8xlarge": 8, "16xlarge": 16},
    "p3": {"2xlarge": 1, "8xlarge": 4, "16xlarge": 8},
    "p5": {"4xlarge": 1, "48xlarge": 8},
    **{family: {"24xlarge": 8, "48xlarge": 8} for family in ("p3dn", "p4d", "p4de", "p5e", "p5en")},
    "g4dn": {"12xlarge": 4, "metal": 8},
    **{family: {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8} for family in ("g5", "g6", "g6e")},
}


def speed(instance_type: str) -> float | None:
    """Beside one V100; None where there is no prior for it."""
    match = re.fullmatch(r"(?:ml\.)?(\w+)\.(\w+)", instance_type)
    if match is None or match[1] not in _GPU:
        return None
    family, size = match.groups()
    gpus = _GPUS[family].get(size, 1 if family.startswith("g") else None)
    return None if gpus is None else _GPU[family] * speedup(gpus)


def speedup(count: int, efficiency: float = EFFICIENCY) -> float:
    """Of `count` GPUs or instances beside one."""
    from math import log2

    return float((2 * efficiency) ** log2(count))
