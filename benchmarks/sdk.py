"""The rival: the `sagemaker` SDK as the classic recipe uses it, in an environment of its own under .bench/sdk."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

HOME = Path(__file__).parent.parent / ".bench" / "sdk"
REQUIREMENT = "sagemaker<3"  # the last with Estimators, which every tutorial shows


def installed() -> bool:
    return (HOME / ".installed").exists()


@cache
def python() -> Path:
    """Its interpreter; the environment is made on first use."""
    interpreter = HOME / "bin" / "python"
    if not installed():
        sys.stderr.write(f"installing {REQUIREMENT} into {HOME}, once ...\n")
        uv: list[str | Path] = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, HOME], check=True)
        links = [word for place in os.environ.get("PIP_FIND_LINKS", "").split() for word in ("--find-links", place)]
        install: list[str | Path] = [
            *uv,
            "pip",
            "install",
            "--quiet",
            "--compile-bytecode",
            "--python",
            interpreter,
            *links,
            REQUIREMENT,
        ]
        subprocess.run(install, check=True)
        (HOME / ".installed").touch()
    return interpreter
