"""An older version of this code, unpacked from the repository: its launchers and its commands play in some stories."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[3]
LATE_S = 15.0
"""Seconds for which a cancel waits for a start under way. With real poll intervals it is a minute. Ours are short, and
a machine under load needs seconds for what AWS does at once."""
OLD = "255afb96b11e49513f8f70fcfb52975ed29822a1"
"""Before pauses, boards that break, and checks of what is stored."""
_COMMAND = "import sys; from orchestrator.cli.app import main; sys.argv[0] = 'sweep'; sys.exit(main())"


def unpack(folder: Path) -> Path | None:
    """Unpack the older version into a folder, and return it; None where the repository does not have it."""
    asked = ["git", "-C", str(ROOT), "archive", OLD, "orchestrator", "sql", "job_definitions"]
    packed = subprocess.run(asked, capture_output=True, check=False)
    if packed.returncode:
        return None
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def become_old(folder: Path, words: tuple[str, ...]) -> NoReturn:
    """Turn this process into a command of the older version."""
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    if words[0] == "cancel":
        environ["SWEEP_POLL_S"] = str(LATE_S / 2)  # it waits for two intervals, as that version does
    os.execve(sys.executable, [sys.executable, "-c", _COMMAND, *words], environ)
