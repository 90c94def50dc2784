"""Lets `mpirun` on the first machine reach the others by ssh, with keys that are made for this one training.

No private key leaves its machine: each leaves a public one where all meet. The first machine knows the others by
theirs, and they let in nobody but it. The machine's own sshd is left alone: ours listens at a port of its own.

It travels into the training: standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.training.starter.machine import ORDER, decode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.training.bare.assignment import Assignment
    from orchestrator.training.bare.together.place import Place

AGENT = "OMPI_MCA_plm_rsh_agent"
"""Open MPI's variable for the program by which it reaches other machines."""
PORT = 7722
_KEY = "ssh_key"
"""The name of a machine's public key among its words for the others."""
_PROGRAMS = ("sshd", "ssh", "ssh-keygen")
_WHERE = "/usr/sbin:/usr/local/sbin:/sbin"
_LISTENS_IN_S = 2.0
"""Seconds after which an sshd that has not ended is taken to listen."""
_SERVER = """
Port {port}
ListenAddress {address}
HostKey {folder}/key
AuthorizedKeysFile {folder}/let-in
PidFile none
StrictModes no
UsePAM yes
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowTcpForwarding no
X11Forwarding no
PrintMotd no
MaxStartups 1000
LogLevel ERROR
SetEnv {variables}
"""
_CLIENT = """
Host *
Port {port}
IdentityFile {folder}/key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
CheckHostIP no
BatchMode yes
ConnectionAttempts 30
LogLevel ERROR
"""


class NoSsh(Exception):
    """The machine has no ssh of the kind that is needed: in one line."""


def needs_ssh(assignment: Assignment, environ: Mapping[str, str]) -> bool:
    """Return whether the machines of a training start MPI's ranks on each other, and nobody else sees to that."""
    order = decode(assignment.hyperparameters.get(ORDER, "{}"))
    over_mpi = isinstance(order, dict) and order.get("parallel") == "mpi"
    return over_mpi and assignment.instances > 1 and not assignment.names and AGENT not in environ


class Ssh:
    """This machine's part of it. Call `make_key` before the machines meet, `open` when they have, and `close`."""

    def __init__(self, place: Place, environ: Mapping[str, str]) -> None:
        """Find the programs. Raise NoSsh where one is missing."""
        self._place = place
        self._path = os.pathsep.join((environ.get("PATH", os.defpath), _WHERE))
        self._found = {name: shutil.which(name, path=self._path) or "" for name in _PROGRAMS}
        missing = [name for name, found in self._found.items() if not found]
        if missing:
            raise NoSsh(
                f"there is no {missing[0]} on this machine, and mpirun reaches other machines by ssh: install OpenSSH "
                "into the image, or use torchrun"
            )
        self._folder = Path(tempfile.mkdtemp(prefix="sweep-ssh-"))  # nobody else may read it
        self._server: subprocess.Popen[bytes] | None = None

    def make_key(self) -> dict[str, str]:
        """Make this machine's key, and return what the others are to know of it. Raise NoSsh or OSError."""
        key = self._folder / "key"
        line = [self._found["ssh-keygen"], "-q", "-t", "ecdsa", "-N", "", "-C", "sweep", "-f", str(key)]
        made = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if made.returncode:
            raise NoSsh(f"ssh-keygen makes no key: {made.stdout.decode(errors='replace').strip()[-300:]}")
        kind, public, _ = (self._folder / "key.pub").read_text().split(None, 2)
        return {_KEY: f"{kind} {public}"}

    def open(self, words: Sequence[Mapping[str, str]], names: Sequence[str]) -> dict[str, str]:
        """Let the first machine in, or be it; return the starter's variables for that. Raise NoSsh or OSError.

        `words` and `names` are those of all machines, in their order.
        """
        if self._place.index == 0:
            known = [f"[{name}]:{PORT} {word.get(_KEY, '')}" for name, word in zip(names, words)]  # noqa: B905
            self._write("known", "\n".join(known) + "\n")
        else:
            self._write("let-in", words[0].get(_KEY, "") + "\n")
            self._serve(names[self._place.index])
        return {AGENT: f"{self._found['ssh']} -F {self._write('client', self._filled(_CLIENT))}"}

    def close(self) -> None:
        """Let nobody in any more, and forget the keys."""
        if self._server:
            self._server.terminate()
            self._server.wait()
        shutil.rmtree(str(self._folder), ignore_errors=True)

    def _serve(self, name: str) -> None:
        os.makedirs("/run/sshd", exist_ok=True)  # noqa: PTH103  sshd asks for it
        # What mpirun does not pass on: it means something else on each machine.
        own = {"SM_CURRENT_HOST": name, "TMPDIR": tempfile.gettempdir()}
        variables = " ".join(f'"{key}={value}"' for key, value in own.items())
        config = self._write("server", self._filled(_SERVER, variables=variables))
        log = self._folder / "server.log"
        self._server = subprocess.Popen([self._found["sshd"], "-D", "-f", str(config), "-E", str(log)])
        try:
            self._server.wait(_LISTENS_IN_S)
        except subprocess.TimeoutExpired:
            return  # it listens, until it is told to end
        said = log.read_text(errors="replace") if log.exists() else ""
        raise NoSsh(f"sshd does not listen at port {PORT}: {' '.join(said.split())[-300:] or 'it says nothing'}")

    def _filled(self, text: str, **more: str) -> str:
        return text.format(port=PORT, address=self._place.address, folder=self._folder, **more)

    def _write(self, name: str, text: str) -> Path:
        file = self._folder / name
        file.write_text(text)
        return file
