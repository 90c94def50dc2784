"""What an instance has of its own on this machine: a folder for its root, /opt/ml, programs, and its user data."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud.machines.no_ssh import write_agent
from orchestrator.localcloud.machines.processes import SHARED_CORES, Command
from orchestrator.localcloud.machines.python_layer import make_layer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.machines.own_mounts import OwnMounts

PROGRAMS = ("shutdown", "poweroff", "halt", "reboot", "systemctl", "systemd-run")
SHUT_DOWN, KILL_ALL, START_UNITS = signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2
"""The signals that `first_process.py` obeys."""
_PYTHON = [sys.executable, "-I", "-S"]
_SCRIPTS = Path(__file__).parent
_NOT_RUN = "cloud-init: the user data does not begin with #!, so the local cloud runs nothing of it\n"


@dataclass(frozen=True)
class Folder:
    """The folder of one instance on this machine."""

    base: Path
    scratch: Path
    """A folder with a short name, which is the instance's /tmp to programs that ask for TMPDIR."""
    mounts: OwnMounts
    address: str
    """The instance's own address, by which others find it."""
    port: int
    """A free port of this machine, at which all instances that were launched with it may meet."""

    @property
    def console(self) -> Path:
        """The file of all that its processes print."""
        return self.base / "console.log"

    def fill(self, user_data: bytes, address: str) -> None:
        """Make the folder. `address` is where the programs tell the cloud what is to happen."""
        for name in ("root", "ml", "programs", "units"):
            (self.base / name).mkdir(parents=True)
        self.scratch.mkdir(parents=True)
        words = shlex.join([*_PYTHON, str(_SCRIPTS / "power.py"), address])
        for name in PROGRAMS:  # one for all, as many of a machine's are links to systemctl
            self._write_program(self.base / "programs" / name, f'#!/bin/sh\nexec {words} "$0" "$@"\n'.encode())
        make_layer(self.base / "packages")
        (self.base / "hosts").write_bytes(Path("/etc/hosts").read_bytes())
        self._led_to.unlink(missing_ok=True)
        self._led_to.symlink_to(self.base / "ml.pid")
        self.console.touch()
        if user_data.startswith(b"#!"):
            self._write_program(self._script, user_data)
        elif user_data:
            self.console.write_text(_NOT_RUN)

    def command(self, environment: Mapping[str, str], metadata: str) -> Command:
        """Return what the instance is, as a process: its first one. `metadata` is its metadata service's address."""
        root = self.base / "root"
        programs = (self.base / "programs", self.base / "packages" / "bin")
        join = self.mounts.join(self.base.parent).replace("$host", '$(getent hosts "$host" | cut -d" " -f1)')
        own = {
            "HOME": str(root),
            "TMPDIR": str(self.scratch),
            "PATH": os.pathsep.join((*map(str, programs), environment["PATH"])),
            "AWS_ENDPOINT_URL": environment["AWS_ENDPOINT_URL"],
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata,
            "MASTER_PORT": str(self.port),
            "OMPI_MCA_plm_rsh_agent": str(write_agent(self.scratch, join)),
        }
        if (Path(sys.prefix) / "bin" / "mpirun").exists():
            own["OPAL_PREFIX"] = sys.prefix
        if self.mounts.refusal:
            own["SAGEMAKER_BASE_DIR"] = str(self.base / "ml")
        passed = {name: value for name, value in environment.items() if not name.startswith("AWS_")}
        first = [*_PYTHON, str(_SCRIPTS / "first_process.py"), str(self.base / "units"), *self._user_data()]
        return Command([*self._within(root), *first], {**passed, **SHARED_CORES, **own}, root, self.console)

    def add_unit(self, number: int, text: str) -> None:
        """Lay a command, as JSON, where the first process finds it when it is told to look."""
        draft = self.base / "units" / f"{number:06}.new"
        draft.write_text(text)
        draft.replace(draft.with_suffix(".json"))

    def remove(self) -> None:
        """Remove the folder, with all that the instance wrote."""
        self._led_to.unlink(missing_ok=True)
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def _led_to(self) -> Path:
        """A link, by the instance's address, to the file that tells who its first process is."""
        return self.base.parent / f"{self.address}.pid"

    @property
    def _script(self) -> Path:
        return self.base / "user-data"

    def _user_data(self) -> list[str]:
        return [str(self._script)] if self._script.exists() else ["true"]

    def _within(self, root: Path) -> list[str]:
        """Return the words that give a process the instance's own /opt/ml and programs, where this machine can."""
        if self.mounts.refusal:
            return []
        own_files = [*_PYTHON, str(_SCRIPTS / "own_files.py"), str(self.base)]
        return [*self.mounts.command(self.base / "ml", root, []), *own_files]

    @staticmethod
    def _write_program(file: Path, text: bytes) -> None:
        file.write_bytes(text)
        file.chmod(0o755)
