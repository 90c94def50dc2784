"""Rivals live in environments of their own, under .bench/: made on first use, and never imported here."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

BENCH = Path(__file__).parent.parent / ".bench"


def installed(name: str) -> bool:
    return (BENCH / name / ".installed").exists()


@cache
def python(name: str, requirement: str) -> Path:
    """Its interpreter. CalledProcessError where it cannot be installed."""
    home = BENCH / name
    interpreter = home / "bin" / "python"
    if not installed(name):
        sys.stderr.write(f"installing {requirement} into {home}, once ...\n")
        uv: list[str | Path] = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, home], check=True)
        links = [word for place in os.environ.get("PIP_FIND_LINKS", "").split() for word in ("--find-links", place)]
        options: list[str | Path] = ["--quiet", "--compile-bytecode", "--python", interpreter, *links]
        subprocess.run([*uv, "pip", "install", *options, requirement], check=True)
        (home / ".installed").touch()
    return interpreter
