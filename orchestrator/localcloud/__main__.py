"""`python -m orchestrator.localcloud --home DIR`: serve until a signal, or until the one who started us goes."""

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
from orchestrator.localcloud.services.market import table

if TYPE_CHECKING:
    from orchestrator.localcloud.home import Serving


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=options.log_level.upper(), stream=sys.stderr, format="%(name)s: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    if options.with_parent:
        threading.Thread(target=_watch_parent, args=(stop,), daemon=True).start()
    try:
        from orchestrator.localcloud import server

        chosen = server.Options(
            home=options.home,
            port=options.port,
            regions=_regions(options.regions),
            vcpus=options.vcpus,
            trainings=options.trainings,
            toolkit=prerequisites.toolkit() if options.toolkit else None,
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
    parser.add_argument("--toolkit", action="store_true", help="AWS's own training toolkit starts trainings")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input closes")
    parser.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
    return parser


def _regions(text: str) -> list[str]:
    """Those that the local cloud knows prices and zones of."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in table.REGIONS]
    if not names or unknown:
        wrong = f"there is no Region {unknown[0]}" if unknown else "a cloud without Regions"
        raise LocalCloudError(f"{wrong}: choose some of {', '.join(table.REGIONS)}")
    return names


def _say_ready(serving: Serving) -> None:
    """One line on stdout; nobody may listen any more after it."""
    sys.stdout.write(json.dumps(asdict(serving)) + "\n")
    sys.stdout.flush()


def _say_failed(error: LocalCloudError, *, to_parent: bool) -> None:
    """A parent that reads our stdout tells it in its own way."""
    if to_parent:
        sys.stdout.write(json.dumps({"error": error.message}) + "\n")
    else:
        sys.stderr.write(f"{error.message}\n")


def _watch_parent(stop: threading.Event) -> None:
    while os.read(0, 4096):
        continue
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
