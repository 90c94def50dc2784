"""What an instance type is made of: processors, memory, accelerators, network. A type not known here is unknown.

    shape("ml.p4d.24xlarge").gpus   # 8
    shape("ml.x99.large")           # None: nothing is guessed

Types with accelerators, and families that follow no rule, stand in a table. What the others are made of follows from
their names.
Figures are those of EC2's DescribeInstanceTypes; a type is the same under SageMaker's `ml.` and without it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Chip:
    """The accelerators of an instance: all are of one kind."""

    name: str
    count: int
    memory_gib: int
    """The memory of each of them."""

    @property
    def kind(self) -> str:
        """`neuron` or `gpu`."""
        return "neuron" if self.name.startswith("Trainium") else "gpu"


@dataclass(frozen=True)
class Shape:
    """What one instance of a type is made of."""

    vcpus: int
    memory_gib: float
    chip: Chip | None = None
    gbps: float | None = None
    """The most that its network carries, in gigabits a second; None where its name does not say it."""
    efa: bool = False
    """It has an Elastic Fabric Adapter: instances talk to each other past the kernel."""
    rdma: bool = False
    """Its Elastic Fabric Adapter reads and writes the accelerators' memory by itself."""

    @property
    def gpus(self) -> int:
        """The number of its GPUs; 0 for an instance with other accelerators."""
        return self.chip.count if self.chip and self.chip.kind == "gpu" else 0

    @property
    def kind(self) -> str:
        """`gpu`, `neuron` or `cpu`."""
        return self.chip.kind if self.chip else "cpu"


@cache
def shape(instance_type: str) -> Shape | None:
    """Return what is known of a type, with or without `ml.` before its name; None for a type not known here."""
    name = machine(instance_type)
    return _listed().get(name) or _by_rule(name)


def machine(instance_type: str) -> str:
    """Return what EC2 calls a type: without `ml.` before its name."""
    return instance_type.removeprefix("ml.")


@cache
def gpu_names() -> tuple[str, ...]:
    """Return the names of all GPUs that are known here, in order."""
    chips = [listed.chip for listed in _listed().values() if listed.chip is not None and listed.gpus]
    return tuple(sorted({chip.name for chip in chips}))


@cache
def types_of_families() -> dict[str, tuple[str, ...]]:
    """Return the types with GPUs that are known here, by their families such as `g5`."""
    found: dict[str, list[str]] = {}
    for name, listed in _listed().items():
        if listed.gpus:
            found.setdefault(name.partition(".")[0], []).append(name)
    return {family: tuple(types) for family, types in found.items()}


@cache
def _listed() -> dict[str, Shape]:
    return {line.split()[0]: _row(line) for line in _TABLE.strip().splitlines()[1:]}


def _row(line: str) -> Shape:
    _, vcpus, memory, count, chip, chip_memory, gbps, fabric = line.split()
    return Shape(
        vcpus=int(vcpus),
        memory_gib=float(memory),
        chip=None if chip == "-" else Chip(chip.replace("_", " "), int(count), int(chip_memory)),
        gbps=None if gbps == "-" else float(gbps),
        efa=fabric != "-",
        rdma=fabric == "rdma",
    )


_GIB_PER_VCPU = {"c": 2, "m": 4, "r": 8}
_SIZES = {
    # family: its sizes (0 is `large`, n is `nxlarge`); of these, those with EFA, and their Gbps
    r"m4": ((1, 2, 4, 10, 16), {}),
    r"c5": ((1, 2, 4, 9, 18), {}),
    r"m5": ((0, 1, 2, 4, 12, 24), {}),
    r"r5d?": ((0, 1, 2, 4, 8, 12, 16, 24), {}),
    r"[cmr]6i": ((0, 1, 2, 4, 8, 12, 16, 24, 32), {32: 50}),
    r"[cmr]7i": ((0, 1, 2, 4, 8, 12, 16, 24, 48), {48: 50}),
    r"[cmr]8i": ((0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 96), {48: 75, 96: 100}),
    r"[cm]7i-flex|[cmr]8i-flex": ((0, 1, 2, 4, 8, 12, 16), {}),
}


def _by_rule(name: str) -> Shape | None:
    family, _, size = name.partition(".")
    match = re.fullmatch(r"large|([1-9]\d*)?xlarge", size)
    if match is None:
        return None
    times = 0 if size == "large" else int(match[1] or 1)
    for pattern, (sizes, fast) in _SIZES.items():
        if re.fullmatch(pattern, family) and times in sizes:
            vcpus = 4 * times or 2
            return Shape(vcpus, vcpus * _GIB_PER_VCPU[family[0]], gbps=fast.get(times), efa=times in fast)
    return None


_TABLE = """
type                 vCPUs    GiB  chips  chip            GiB  Gbps  fabric
p2.xlarge                4     61      1  K80              12     -  -
p2.8xlarge              32    488      8  K80              12    10  -
p2.16xlarge             64    732     16  K80              12    25  -
p3.2xlarge               8     61      1  V100             16    10  -
p3.8xlarge              32    244      4  V100             16    10  -
p3.16xlarge             64    488      8  V100             16    25  -
p3dn.24xlarge           96    768      8  V100             32   100  efa
p4d.24xlarge            96   1152      8  A100             40   400  rdma
p4de.24xlarge           96   1152      8  A100             80   400  rdma
p5.4xlarge              16    256      1  H100             80   100  efa
p5.48xlarge            192   2048      8  H100             80  3200  rdma
p5e.48xlarge           192   2048      8  H200            141  3200  rdma
p5en.48xlarge          192   2048      8  H200            141  3200  rdma
p6-b200.48xlarge       192   2048      8  B200            179  3200  rdma
p6-b300.48xlarge       192   4096      8  B300            268  6400  rdma
p6e-gb200.36xlarge     144    960      4  GB200           185  1600  rdma
g4dn.xlarge              4     16      1  T4               16    25  -
g4dn.2xlarge             8     32      1  T4               16    25  -
g4dn.4xlarge            16     64      1  T4               16    25  -
g4dn.8xlarge            32    128      1  T4               16    50  efa
g4dn.12xlarge           48    192      4  T4               16    50  efa
g4dn.16xlarge           64    256      1  T4               16    50  efa
g5.xlarge                4     16      1  A10G             22    10  -
g5.2xlarge               8     32      1  A10G             22    10  -
g5.4xlarge              16     64      1  A10G             22    25  -
g5.8xlarge              32    128      1  A10G             22    25  efa
g5.16xlarge             64    256      1  A10G             22    25  efa
g5.12xlarge             48    192      4  A10G             22    40  efa
g5.24xlarge             96    384      4  A10G             22    50  efa
g5.48xlarge            192    768      8  A10G             22   100  efa
g6.xlarge                4     16      1  L4               22    10  -
g6.2xlarge               8     32      1  L4               22    10  -
g6.4xlarge              16     64      1  L4               22    25  -
g6.8xlarge              32    128      1  L4               22    25  efa
g6.16xlarge             64    256      1  L4               22    25  efa
g6.12xlarge             48    192      4  L4               22    40  efa
g6.24xlarge             96    384      4  L4               22    50  efa
g6.48xlarge            192    768      8  L4               22   100  efa
g6e.xlarge               4     32      1  L40S             44    20  -
g6e.2xlarge              8     64      1  L40S             44    20  -
g6e.4xlarge             16    128      1  L40S             44    20  -
g6e.8xlarge             32    256      1  L40S             44    25  efa
g6e.16xlarge            64    512      1  L40S             44    35  efa
g6e.12xlarge            48    384      4  L40S             44   100  efa
g6e.24xlarge            96    768      4  L40S             44   200  efa
g6e.48xlarge           192   1536      8  L40S             44   400  efa
g7.2xlarge               8     32      1  RTX_PRO_4500     32    60  -
g7.4xlarge              16     64      1  RTX_PRO_4500     32   100  -
g7.8xlarge              32    128      1  RTX_PRO_4500     32   100  efa
g7.12xlarge             48    192      2  RTX_PRO_4500     32   175  efa
g7.24xlarge             96    384      4  RTX_PRO_4500     32   350  efa
g7.48xlarge            192    768      8  RTX_PRO_4500     32   700  efa
g7e.2xlarge              8     64      1  RTX_PRO_6000     96    50  -
g7e.4xlarge             16    128      1  RTX_PRO_6000     96    50  -
g7e.8xlarge             32    256      1  RTX_PRO_6000     96   100  efa
g7e.12xlarge            48    512      2  RTX_PRO_6000     96   400  efa
g7e.24xlarge            96   1024      4  RTX_PRO_6000     96   800  efa
g7e.48xlarge           192   2048      8  RTX_PRO_6000     96  1600  efa
trn1.2xlarge             8     32      1  Trainium         32  12.5  -
trn1.32xlarge          128    512     16  Trainium         32   800  rdma
trn1n.32xlarge         128    512     16  Trainium         32  1600  rdma
trn2.48xlarge          192   2048     16  Trainium2       512  3200  rdma
c4.xlarge                4    7.5      -  -                 -     -  -
c4.2xlarge               8     15      -  -                 -     -  -
c4.4xlarge              16     30      -  -                 -     -  -
c4.8xlarge              36     60      -  -                 -    10  -
c5n.xlarge               4   10.5      -  -                 -    25  -
c5n.2xlarge              8     21      -  -                 -    25  -
c5n.4xlarge             16     42      -  -                 -    25  -
c5n.9xlarge             36     96      -  -                 -    50  efa
c5n.18xlarge            72    192      -  -                 -   100  efa
t3.medium                2      4      -  -                 -     5  -
t3.large                 2      8      -  -                 -     5  -
t3.xlarge                4     16      -  -                 -     5  -
t3.2xlarge               8     32      -  -                 -     5  -
"""
