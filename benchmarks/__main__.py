"""`python -m benchmarks [NAME ...] [--prices FILE] [--traces FOLDER]`: every benchmark, or those named.

With a table of real prices, `planning` plans on these too; with a folder of traces, `spot` is played on these. The exit
code is 1 if a budget was missed.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from benchmarks import cli_start, feeds, history, localcloud, status
from benchmarks.launching import launcher, manifest, noticing
from benchmarks.plans import medium, million, planning
from benchmarks.spot import bench as spot

ALL = {
    "cli": cli_start,
    "planning": planning,
    "medium": medium,
    "million": million,
    "manifest": manifest,
    "launcher": launcher,
    "status": status,
    "feeds": feeds,
    "history": history,
    "noticing": noticing,
    "localcloud": localcloud,
    "spot": spot,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--prices", type=Path, metavar="FILE", help="a table of real prices, for planning")
    parser.add_argument("--traces", type=Path, metavar="FOLDER", help="traces of spot, or folders of them, for spot")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(ALL):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    kept = True
    given = {"planning": partial(planning.measure, asked.prices), "spot": partial(spot.measure, asked.traces)}
    for name in asked.names or ALL:
        for figure in given.get(name, ALL[name].measure)():
            print(figure, flush=True)
            kept = kept and figure.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
