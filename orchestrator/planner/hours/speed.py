"""The speed of instance types beside each other. It is a prior, for where nobody has said or measured it."""

from __future__ import annotations

from math import log2

from orchestrator.wire.shapes import shape

EFFICIENCY = 2**-0.1
"""Part of its speed that a training keeps when its GPUs or instances double: n of them are n**0.9 times as fast."""

_GPU_SPEED = {
    ("K80", 12): 0.25,
    ("T4", 16): 0.4,
    ("L4", 22): 0.65,
    ("A10G", 22): 0.8,
    ("V100", 16): 1.0,
    ("V100", 32): 1.0,
    ("L40S", 44): 1.6,
    ("A100", 40): 2.0,
    ("A100", 80): 2.2,
    ("H100", 80): 4.0,
    ("H200", 141): 4.4,
}
"""Speed of one GPU, by its name and GiB, beside a V100: in mixed precision, rounded from published benchmarks."""


def speed(instance_type: str) -> float | None:
    """Return how many times as fast as one V100 an instance of this type is; None where there is no prior for it."""
    known = shape(instance_type)
    if known is None or known.chip is None:
        return None
    one = _GPU_SPEED.get((known.chip.name, known.chip.memory_gib))
    return None if one is None else one * speedup(known.chip.count)


def speedup(count: int, efficiency: float = EFFICIENCY) -> float:
    """Return how many times as fast as one GPU or instance `count` of them are."""
    return float((2 * efficiency) ** log2(count))
