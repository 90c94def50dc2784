"""`make fuzz SEED=7 COUNT=100000`: inputs that nobody meant, for every reader. It ends with 1 if an answer is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.campaign import Campaign


def main(seed: str = "1", count: str = "100000") -> int:
    with TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder), int(seed))
        campaign.run(int(count))
    for wrong, made in campaign.found.items():
        print(f"{wrong}\n    {made}")
    print(f"seed {seed}: {sum(campaign.tried.values()):,} inputs, {len(campaign.found)} kinds of wrong answers")
    print(", ".join(f"{reader} {number:,}" for reader, number in sorted(campaign.tried.items())))
    return 1 if campaign.found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
