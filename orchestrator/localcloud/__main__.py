"""`python -m orchestrator.localcloud --home DIR`: serves until a signal, or until its parent process goes."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.machines import prerequisites
from orchestrator.localcloud.names import REGIONS
from orchestrator.localcloud.services.market import price_table

if TYPE_CHECKING:
    from orchestrator.localcloud.home import Serving


def main(arguments: list[str] | None = None) -> int:
    """Serve, and return the exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=options.log_level.upper(), stream=sys.stderr, format="%(name)s: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    if options.with_parent:
        threading.Thread(target=_watch_parent, args=(stop,), daemon=True).start()
    try:
        regions = _regions(options.regions)
        toolkit = prerequisites.toolkit() if options.toolkit else None
        from orchestrator.localcloud import server  # it takes long: what is wrong above is said before

        chosen = server.Options(
            home=options.home,
            port=options.port,
            regions=regions,
            vcpus=options.vcpus,
            trainings=options.trainings,
            empty=options.empty,
            iam=options.iam,
            toolkit=toolkit,
        )
        server.serve(chosen, _say_ready, stop)
    except LocalCloudError as error:
        _say_failed(error, to_parent=options.with_parent)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(prog="python -m orchestrator.localcloud", description="AWS, on this machine.")
    parser.add_argument("--home", type=Path, required=True, help="a folder of its own")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--regions", default=",".join(REGIONS))
    parser.add_argument("--vcpus", type=float, default=4.0, help="of each Region's queue; a launcher takes 0.25")
    parser.add_argument("--trainings", type=int, default=max(2, cores), help="how many run at once")
    parser.add_argument("--empty", action="store_true", help="an account that has nothing yet")
    parser.add_argument("--iam", action="store_true", help="callers are held to their policies")
    parser.add_argument("--toolkit", action="store_true", help="AWS's own training toolkit starts trainings")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input closes")
    parser.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
    return parser


def _regions(text: str) -> list[str]:
    """Return the Regions of a list. Raise LocalCloudError for one whose prices and zones are not known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in price_table.REGIONS]
    if not names or unknown:
        wrong = f"there is no Region {unknown[0]}" if unknown else "a cloud without Regions"
        raise LocalCloudError(f"{wrong}: choose some of {', '.join(price_table.REGIONS)}")
    return names


def _say_ready(serving: Serving) -> None:
    """Write one line to stdout. It is the only one: nobody need read stdout after it."""
    sys.stdout.write(json.dumps(asdict(serving)) + "\n")
    sys.stdout.flush()


def _say_failed(error: LocalCloudError, *, to_parent: bool) -> None:
    """Write the error to stdout for a parent, who words it in its own way, or else to stderr."""
    if to_parent:
        sys.stdout.write(json.dumps({"error": error.message}) + "\n")
    else:
        sys.stderr.write(f"{error.message}\n")


def _watch_parent(stop: threading.Event) -> None:
    """Set `stop` when the parent has gone, which closes our standard input."""
    while os.read(0, 4096):
        continue
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
