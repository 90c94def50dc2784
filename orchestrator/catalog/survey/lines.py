"""Makes a dataset of each task that the lines of a classic JOBARRAY ask for. The catalog knows none of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.wire.names import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.wire.manifest import ClassicLine


def name_lines(lines: Sequence[ClassicLine]) -> list[tuple[str, ClassicLine]]:
    """Return each line with the name of the dataset that it stands for.

    Lines that differ in their Region only are replicas of one dataset. A line that is there twice is two. A dataset is
    called by its data's URI; the second of the same data by `#2` behind it, and so on.
    """
    named: list[tuple[str, ClassicLine]] = []
    seen: Counter[tuple[str, str]] = Counter()
    names: dict[tuple[str, int], str] = {}
    of_data: Counter[str] = Counter()
    for line in lines:
        what = digest([line.s3_uri, line.point, line.instance_type, *([line.image] if line.image else [])])
        seen[what, line.region] += 1
        task = (what, seen[what, line.region])
        if task not in names:
            of_data[line.s3_uri] += 1
            number = of_data[line.s3_uri]
            names[task] = line.s3_uri if number == 1 else f"{line.s3_uri}#{number}"
        named.append((names[task], line))
    return named
