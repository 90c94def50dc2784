"""`make parity`: every field that we and the SageMaker SDK send, and what is to be said of it."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks import sdk
from tests.parity.compare import answers, compared

if TYPE_CHECKING:
    from tests.parity.compare import Row

WIDE = 44


def main() -> int:
    rows = compared(answers(sdk.python()))
    for case in dict.fromkeys(row.case for row in rows):
        show(case, [row for row in rows if row.case == case])
    counts = Counter(row.verdict for row in rows)
    print(", ".join(f"{counts[verdict]} fields {verdict}" for verdict in ("same", "meant", "WRONG")))
    return 1 if counts["WRONG"] else 0


def show(case: str, rows: list[Row]) -> None:
    print(f"{case}\n" + "=" * len(case))
    line = f"{{:{WIDE + 16}}}  {{:{WIDE}}}  {{:{WIDE}}}  {{}}"
    print(line.format("field", "ours", "the SDK's", "verdict"))
    for row in rows:
        verdict = f"{row.verdict}: {row.reason}" if row.verdict == "meant" else row.verdict
        print(line.format(row.field, short(row.ours), short(row.theirs), verdict).rstrip())
    print()


def short(value: str) -> str:
    return value if len(value) <= WIDE else f"{value[: WIDE - 3]}..."


if __name__ == "__main__":
    sys.exit(main())
