"""Our starter: the program that a training's container runs where the image's own toolkit cannot do what was asked.

The code lies in /opt/ml/code, and the hyperparameter `sweep_start` says what to run. The starter makes the environment
and the command, runs it, passes SIGTERM on, and writes down why it failed. It ends as the command does (128 + n after
signal n), with 126 or 127 if there is no such program, and with 125 if nothing could be started.

It travels into the training: standard library only.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.training.process import write_line
from orchestrator.training.secrets import CannotFetch, with_secrets
from orchestrator.training.starter.command import run_command
from orchestrator.training.starter.launch import CannotStart, make_line
from orchestrator.training.starter.machine import ENDED_BY, HOME, hide_code, read_machine
from orchestrator.training.starter.meeting import gather, meeting_point, serve, start_sshd
from orchestrator.training.starter.ranks import terminate_ranks
from orchestrator.training.starter.variables import make_environment

if TYPE_CHECKING:
    from orchestrator.training.starter.machine import Machine

CANNOT_START = 125


def main(base: str = HOME) -> int:
    """Start the training that the files below a folder describe; return the exit code of its container."""
    try:
        machine = read_machine(Path(base))
        _hide_code(machine)
        environ = with_secrets(make_environment(os.environ, machine))
        return _install(machine, environ) or _start(machine, environ)
    except (CannotStart, CannotFetch, OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error) if isinstance(error, (CannotStart, CannotFetch)) else f"{type(error).__name__}: {error}"
        write_line(f"sweep: cannot start: {reason}")
        _write_failure(Path(base), f"CannotStart: {reason}")
        return CANNOT_START


def _hide_code(machine: Machine) -> None:
    try:
        hide_code(machine.base)
    except OSError as error:
        write_line(f"sweep: the channel of the code stays listed beside the others: {error}")


def _install(machine: Machine, environ: dict[str, str]) -> int:
    """Install what the code requires, as AWS's toolkit does; return pip's exit code."""
    if not (machine.code / "requirements.txt").exists():
        return 0
    return _run([sys.executable, "-m", "pip", "install", "-r", "requirements.txt"], machine, environ)


def _start(machine: Machine, environ: dict[str, str]) -> int:
    if machine.order.get("parallel") != "mpi" or len(machine.hosts) == 1:
        return _run(make_line(machine, environ), machine, environ)
    start_sshd(environ)
    if machine.is_first:
        with gather(machine, meeting_point(environ)):
            return _run(make_line(machine, environ), machine, environ)
    signal.signal(signal.SIGTERM, lambda *_: terminate_ranks(environ))
    serve(meeting_point(environ))
    return 0


def _run(line: list[str], machine: Machine, environ: dict[str, str]) -> int:
    """Run a command in the folder of the code. If it fails, write down why."""
    shown = " ".join(map(shlex.quote, line))
    write_line(f"sweep: starting {shown}")
    ended = run_command(line, environ, machine.code)
    if ended.code:
        error = f'ExitCode {ended.code}\nErrorMessage "{ended.error}"\nCommand "{shown}"'
        _write_failure(machine.base, f"ExecuteUserScriptError:\n{error}")
        (machine.base / ENDED_BY).write_text(ended.by)
    return ended.code


def _write_failure(base: Path, text: str) -> None:
    """Write the file whose beginning SageMaker shows as the reason; one that the training wrote itself stays."""
    file = base / "output" / "failure"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
