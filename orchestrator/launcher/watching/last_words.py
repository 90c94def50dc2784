"""Finds in a failed training's log why it failed: platforms often give an exit code and nothing else."""

from __future__ import annotations

import logging
import re
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.training.starter.causes import follows
from orchestrator.wire.reasons import without_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.platforms.base import Runner
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.template import Template

log = logging.getLogger(__name__)

MOST_LINES = 300_000
"""Lines of a log that are read: a log may be of any length."""
KEPT = 400
"""The last lines of each stream that are looked at: torchrun and mpirun write a page after the failed rank's words."""
LONGEST = 300
"""Characters of a line that are kept."""

_LABEL = re.compile(r"^(?:\[[^\]\s]*\](?:<\w+>)?:? ?)+")
"""What mpirun and torchrun put before a rank's line: `[1,mpirank:1,algo-2]<stderr>:` or `[rank1]: `."""
_CAUSE = re.compile(
    r"^(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Failure|NotFound)|SystemExit)(?:: |$)"
    r"|(?:^|[\s:])(?:error|fatal|fatal error|panic): "
    r"|^(?:Killed|Segmentation fault|Bus error|Illegal instruction|Aborted)\b",
    re.IGNORECASE,
)
"""A line that names a cause: the end of Python's traceback, argparse's `train.py: error: ...`, a shell's `Killed`."""
_REPORTERS = re.compile(
    r"ChildFailedError|CalledProcessError|ExecuteUserScriptError|ReportedError|exitcode +:|Primary job +terminated",
    re.IGNORECASE,
)
"""Lines of those who started the failed process: they say that it failed, never why."""
_MESSAGE = 'ErrorMessage "'
"""What starters write ahead of the error of the process that they have started."""


def find_cause(lines: Iterable[tuple[str, str]]) -> str:
    """Return the line of a log that says why its training failed, from (stream, line) pairs; empty for an empty log.

    It is the last line that names a cause, of the stream in which one was named first of all: what fails later often
    fails because of it. One that follows from another counts where no other is named; if no line names one, the last.
    """
    last: dict[str, deque[str]] = {}
    for stream, line in lines:
        text = " ".join(_LABEL.sub("", line).split())
        if text:
            last.setdefault(stream, deque(maxlen=KEPT)).append(text)
    named = [list(filter(_names_a_cause, reversed(kept))) for kept in last.values()]
    own = (line for lines in named for line in lines if not follows(line))
    ends = (kept[-1] for kept in last.values())
    return next(own, next((line for lines in named for line in lines), next(ends, "")))[:LONGEST]


def _names_a_cause(line: str) -> bool:
    return bool(_CAUSE.search(line, 0, LONGEST)) and not _REPORTERS.search(line, 0, LONGEST)


def explain_failure(reason: str, runner: Runner, attempt: Attempt, template: Template) -> str:
    """Return the reason of a failed attempt with its training's own words, unless it has them already.

    The command line is left out: what is run stands in the log. A log that cannot be read adds nothing.
    """
    reason = without_command(reason).rstrip()
    try:
        cause = find_cause(islice(runner.logs(attempt, template, {}), MOST_LINES))
    except SweepError as error:
        log.warning("no last words from the log of %s: %s", attempt.training, error)
        return reason
    if not cause or cause in reason or (follows(cause) and _names_a_cause(reason.partition(_MESSAGE)[2])):
        return reason
    return f"{cause} ({reason})" if reason else cause
