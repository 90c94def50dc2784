"""`python -m orchestrator.launcher`: from the environment of a Batch child to an exit code."""

from __future__ import annotations

import gc
import logging
import os
import sys
from functools import cache, partial
from typing import TYPE_CHECKING

from orchestrator.aws.control import Control
from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.errors import NewerVersion, SweepError, Throttled, Unreachable, UsageError
from orchestrator.launcher.child import read_task, this_child
from orchestrator.launcher.drive import Driver
from orchestrator.launcher.task_history import TaskHistory
from orchestrator.launcher.world import real_world
from orchestrator.platforms.registry import make_runner
from orchestrator.wire.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger("orchestrator.launcher")


def main(environ: Mapping[str, str] = os.environ) -> Exit:
    """Bring this child's task to its end, and return what Batch is to make of it. Errors go into the log."""
    try:
        return _launch(environ)
    except SweepError as error:
        log.error("%s", error)
        return _exit_code(error)
    except Exception:
        log.exception("a fault in the launcher; its training, if any, runs on")
        return Exit.RESTART


def _launch(environ: Mapping[str, str]) -> Exit:
    me = this_child(environ)
    world = real_world(me.siblings)
    clients = Clients()
    s3 = S3(clients, me.region, me.manifest.bucket)
    control = Control(s3, me.run)
    if me.planned:
        history = TaskHistory(read_task(me, s3), me.submission, control)
    else:
        from orchestrator.launcher.classic import make_history  # which few launchers need

        history = make_history(me, environ, control, world)
    log.info("task %d of run %s", history.task.number, me.run)
    # One runner of each platform: it may remember what it has seen, such as an end that S3 could not be told of.
    return Driver(history, cache(partial(make_runner, clients=clients)), world).drive()


def _exit_code(error: SweepError) -> Exit:
    """Return the exit code for an error that left no result behind."""
    if isinstance(error, (Throttled, Unreachable)):
        return Exit.RESTART
    if isinstance(error, NewerVersion):
        return Exit.UNAVAILABLE  # nothing is wrong with the task: it waits for a newer launcher's image
    return Exit.TASK_WRONG if isinstance(error, UsageError) else Exit.UNAVAILABLE


if __name__ == "__main__":
    # AWS's descriptions of its services are read at the start and stay: looking through them for garbage, as often as
    # Python would by itself, takes a tenth of a launcher's CPU.
    gc.set_threshold(50_000)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    sys.exit(main())
