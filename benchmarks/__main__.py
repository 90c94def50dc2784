"""`python -m benchmarks [NAME ...] [--prices FILE]`: every benchmark, or those named; 1 if a budget was missed.

With a table of real prices, `planning` plans on these too.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from benchmarks import cli_start, feeds, history, launcher, localcloud, manifest, medium, noticing, planning, status

ALL = {
    "cli": cli_start,
    "planning": planning,
    "medium": medium,
    "manifest": manifest,
    "launcher": launcher,
    "status": status,
    "feeds": feeds,
    "history": history,
    "noticing": noticing,
    "localcloud": localcloud,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--prices", type=Path, metavar="FILE", help="a table of real prices, for planning")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(ALL):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    kept = True
    for name in asked.names or ALL:
        measure = partial(planning.measure, asked.prices) if name == "planning" else ALL[name].measure
        for figure in measure():
            print(figure, flush=True)
            kept = kept and figure.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
