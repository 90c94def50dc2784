"""The reason of a training's failure: the failure file that the toolkit writes, and what SageMaker shows of it."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_RANK = re.compile(r"\[\d,(?:mpirank:)?\d+(?:,algo-\d+)?\]<std(?:out|err)>")
_ERRORS = (
    *(name for name in dir(builtins) if name.endswith(("Error", "Exception"))),
    *("Invalid requirement", "ResourceExhaustedError", "OutOfRangeError", "InvalidArgumentError"),
    *("mpirun.real", "ORTE"),
)
"""What the toolkit takes for an error's name, wherever it stands in a line."""
_LONGEST_FAILURE = 1024
"""SageMaker shows that many characters of the failure file."""


def write_failure_file(output: Path, code: int, command: list[str], lines: list[str]) -> None:
    """Write the failure file as the toolkit does; keep one that the training wrote itself.

    Its message has all lines from the first one that names an error, and each line once.
    """
    file = output / "failure"
    if file.exists():
        return
    plain = [_RANK.sub("", line) for line in lines]
    start = next((number for number, line in enumerate(plain) if any(name in line for name in _ERRORS)), len(plain))
    error = "\n ".join(dict.fromkeys(line.strip(" :") for line in plain[start:]))
    extra = '\nExtraInfo "OutOfMemory: Process killed by SIGKILL (signal 9)"' if code == 137 else ""
    shown = " ".join(command)
    file.write_text(f'ExecuteUserScriptError:\nExitCode {code}\nErrorMessage "{error}"{extra}\nCommand "{shown}"')


def failure_reason(output: Path, code: int) -> str:
    """Return the FailureReason that DescribeTrainingJob shows. `code` is the container's exit code."""
    file = output / "failure"
    text = file.read_text(errors="replace")[:_LONGEST_FAILURE] if file.exists() else ""
    return f"AlgorithmError: {text}, exit code: {code}"
