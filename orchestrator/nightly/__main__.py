"""The job that a schedule starts: `python -m orchestrator.nightly BUCKET REGION SCHEDULE TICK`.

TICK is the moment that it was started for, such as 2026-11-20T01:00:00Z; or a night's id, to conduct just that one.
"""

from __future__ import annotations

import logging
import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.conductor.drive import PASSING
from orchestrator.errors import SweepError, UsageError
from orchestrator.nightly.conduct import Clock, Conductor
from orchestrator.nightly.shelf import Shelf
from orchestrator.wire.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Conduct what is due, and return the worst of the exit codes: 75 where starting again may help."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s", stream=sys.stderr)
    try:
        return _conduct(*arguments)
    except PASSING as error:
        sys.stderr.write(f"error: {error}\n")
        return Exit.RESTART
    except SweepError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code


def _conduct(bucket: str, region: str, schedule: str, tick: str) -> int:
    s3 = S3(Clients(), region, bucket)
    night = Shelf(s3).night(schedule, tick)
    moment = None if night else _moment(tick)
    conductor = Conductor(s3, schedule, Clock(night.at if night else moment))
    worst = 0
    for done in [conductor.conduct(night)] if night else conductor.tick(_who()):
        sys.stdout.write(f"{schedule} {done.night}: {done.end.why}\n")
        worst = max(worst, done.end.exit)
    return worst


def _who() -> str:
    """Return who we are: the same when Batch starts us again."""
    return f"Batch job {os.environ.get('AWS_BATCH_JOB_ID', '')}".strip()


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError as error:
        raise UsageError(f"{text!r} is no moment, and no night of it", hint="such as 2026-11-20T01:00:00Z") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
