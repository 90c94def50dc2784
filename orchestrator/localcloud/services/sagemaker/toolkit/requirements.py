"""A training's requirements.txt: what this Python lacks of it is installed, for that training alone.

The training's process runs this file as a script before the training: `requirements.py FILE FOLDER`. The toolkit
installs into the image. Here that would be the Python that we run on, so missing packages go to a folder of the
training's. Packages that are there already are used as they are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.services.sagemaker.host.host import Host


def with_requirements(argv: list[str], host: Host) -> list[str]:
    """Return a command that installs what a host's code requires, if anything, and then does what `argv` does."""
    file = host.code / "requirements.txt"
    if not file.exists():
        return argv
    install = [sys.executable, "-I", __file__, str(file), str(host.packages)]
    script = '"$1" "$2" "$3" "$4" "$5" || exit; shift 5; exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *install, *argv]


def main(file: str, folder: str) -> int:
    """Install into a folder what is missing of a requirements file; return the exit code."""
    found = _pip("install", "--dry-run", "--quiet", "--report", "-", "-r", file)
    if found.returncode:
        return _fail(file, found)
    missing = [_pinned(each) for each in json.loads(found.stdout)["install"]]
    if not missing:
        return 0
    installed = _pip("install", "--no-deps", "--target", folder, *missing)
    sys.stdout.write(installed.stdout)
    return _fail(file, installed) if installed.returncode else 0


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _pinned(found: dict[str, Any]) -> str:
    """Return a requirement that means just one distribution of pip's report."""
    name, version = found["metadata"]["name"], found["metadata"]["version"]
    return f"{name} @ {found['download_info']['url']}" if found["is_direct"] else f"{name}=={version}"


def _fail(file: str, pip: subprocess.CompletedProcess[str]) -> int:
    """Write the toolkit's words into the failure file, and return the exit code."""
    command = f"{sys.executable} -m pip install -r {Path(file).name}"
    error = f'ExitCode {pip.returncode}\nErrorMessage "{pip.stderr.strip()}"'
    text = f'InstallRequirementsError:\n{error}\nCommand "{command}"'
    sys.stderr.write(pip.stderr)
    (Path(file).parent.parent / "output" / "failure").write_text(text)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
