"""What a finished training's log and folder tell: its metrics, and why it failed."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
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


def metrics(lines: Iterable[str], definitions: list[dict[str, str]], now: float) -> dict[str, dict[str, Any]]:
    """By name, the last value that each definition's expression finds in the log."""
    found: dict[str, float] = {}
    compiled = [(each["Name"], re.compile(each["Regex"])) for each in definitions]
    for line in lines:
        for name, pattern in compiled:
            match = pattern.search(line)
            if match and (value := _number(match)) is not None:
                found[name] = value
    return {name: {"MetricName": name, "Value": value, "Timestamp": now} for name, value in found.items()}


def write_failure(output: Path, code: int, command: list[str], lines: list[str]) -> None:
    """As the toolkit writes it: from the first line that names an error, each once. What a training wrote stays."""
    file = output / "failure"
    if file.exists():
        return
    plain = [_RANK.sub("", line) for line in lines]
    first = next((number for number, line in enumerate(plain) if any(name in line for name in _ERRORS)), len(plain))
    error = "\n ".join(dict.fromkeys(line.strip(" :") for line in plain[first:]))
    extra = '\nExtraInfo "OutOfMemory: Process killed by SIGKILL (signal 9)"' if code == 137 else ""
    shown = " ".join(command)
    file.write_text(f'ExecuteUserScriptError:\nExitCode {code}\nErrorMessage "{error}"{extra}\nCommand "{shown}"')


def failure_reason(output: Path, code: int) -> str:
    """As DescribeTrainingJob gives it; `code`: the container's."""
    file = output / "failure"
    text = file.read_text(errors="replace")[:_LONGEST_FAILURE] if file.exists() else ""
    return f"AlgorithmError: {text}, exit code: {code}"


def _number(match: re.Match[str]) -> float | None:
    text = match.group(1) if match.re.groups else match.group()
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
