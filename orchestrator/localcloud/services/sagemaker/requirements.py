"""requirements.txt beside a training's code: what this Python lacks of it is installed for that training alone.

Run as a script of its own by the training's process, before the training: `requirements.py FILE FOLDER`. The toolkit
installs into the image; here that would be the Python that we run on, so what is missing goes to a folder of the
training's. What is there already is used as it is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.services.sagemaker.toolkit import Host


def before(argv: list[str], host: Host) -> list[str]:
    """The same command, after an installation if the code asks for one."""
    file = host.code / "requirements.txt"
    if not file.exists():
        return argv
    install = [sys.executable, "-I", __file__, str(file), str(host.packages)]
    script = '"$1" "$2" "$3" "$4" "$5" || exit; shift 5; exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *install, *argv]


def main(file: str, folder: str) -> int:
    found = _pip("install", "--dry-run", "--quiet", "--report", "-", "-r", file)
    if found.returncode:
        return _failed(file, found)
    missing = [_exactly(each) for each in json.loads(found.stdout)["install"]]
    if not missing:
        return 0
    installed = _pip("install", "--no-deps", "--target", folder, *missing)
    sys.stdout.write(installed.stdout)
    return _failed(file, installed) if installed.returncode else 0


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _exactly(found: dict[str, Any]) -> str:
    """One distribution of pip's report, as a requirement that means just this one."""
    name, version = found["metadata"]["name"], found["metadata"]["version"]
    return f"{name} @ {found['download_info']['url']}" if found["is_direct"] else f"{name}=={version}"


def _failed(file: str, pip: subprocess.CompletedProcess[str]) -> int:
    """The toolkit's words, in the file that SageMaker shows."""
    command = f"{sys.executable} -m pip install -r {Path(file).name}"
    error = f'ExitCode {pip.returncode}\nErrorMessage "{pip.stderr.strip()}"'
    text = f'InstallRequirementsError:\n{error}\nCommand "{command}"'
    sys.stderr.write(pip.stderr)
    (Path(file).parent.parent / "output" / "failure").write_text(text)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
