"""The rival planner: SkyPilot's optimizer, in an environment of its own under .bench/skypilot, on the same prices.

It knows no quotas, budgets or deadlines, and data moves for nothing between Regions of one cloud: only its time can be
compared. It is given a chain of tasks that each want one V100, as spot, without credentials or a server.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from benchmarks import environment
from benchmarks.figure import run

REQUIREMENT = "skypilot==0.14.1"
CATALOG = Path(".sky") / "catalogs" / "v8"
FEW, MANY = 5, 25
CHAIN = Path(__file__).parent / "skypilot_chain.py"


def seconds_each(prices: Path) -> str:
    """CPU for each 1,000 of its tasks, in words; or why it could not be measured."""
    try:
        python = environment.python("skypilot", REQUIREMENT)
        home = _home(prices)
        few, many = (_cpu(python, home, count) for count in (FEW, MANY))
    except subprocess.CalledProcessError as error:
        return f"{REQUIREMENT} could not be installed or run (exit {error.returncode})"
    return f"SkyPilot {(many - few) / (MANY - FEW) * 1000:,.0f} s, without quotas"


def _home(prices: Path) -> Path:
    """A home directory with these prices as its catalog, so that nothing is downloaded."""
    home = environment.BENCH / "skypilot" / "home"
    for folder in ("aws", "common"):
        (home / CATALOG / folder).mkdir(parents=True, exist_ok=True)
    shutil.copyfile(prices, home / CATALOG / "aws" / "vms.csv")
    (home / CATALOG / "common" / "accelerators.csv").write_text("AcceleratorName,Clouds\nV100,AWS\n")
    return home


def _cpu(python: Path, home: Path, count: int) -> float:
    output = run([python, CHAIN, str(count)], {"HOME": str(home), "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}).output
    return float(json.loads(output.splitlines()[-1])["cpu_s"])
