"""What a host has mounted that is a plain process: an /opt/ml of its own, and channels that are streamed.

Both are seen by this host alone, and gone with its last process, however that ends. Linux gives them to root, and to
others where users have namespaces of their own. On other machines a host has a folder in /opt/ml's stead, and copies.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.localcloud.machines.fuse.shown import Shown
from orchestrator.localcloud.machines.fuse.tree import File, Tree
from orchestrator.localcloud.machines.machine import IS_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMESPACES = ["--mount"] if IS_ROOT else ["--user", "--map-root-user", "--mount"]
_JOINED = "--mount" if IS_ROOT else "--user --preserve-credentials --mount"
_PROGRAMS = ("unshare", "nsenter")
_WORD = "seen"
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class OwnMounts:
    """What this machine can mount for a host."""

    shown: Shown | None
    """What streams channels; None when they are copied."""
    copies_for: str = ""
    """Why channels are copied that were to be streamed; empty when they are streamed."""
    refusal: str = ""
    """Why hosts have no /opt/ml of their own; empty when they have."""

    @classmethod
    def find(cls, scratch: Path) -> OwnMounts:
        """Try what this machine can do. `scratch` is a folder with a short name, for a socket."""
        if missing := [name for name in _PROGRAMS if shutil.which(name) is None]:
            reason = f"there is no `{missing[0]}` on this machine"
            return cls(None, reason, reason)
        mounts = cls(Shown(scratch / "shown"))
        why_no_stream = mounts._try(streamed=True)
        if not why_no_stream:
            return mounts
        why_nothing = mounts._try(streamed=False)
        return cls(None, why_nothing or why_no_stream, why_nothing)

    @property
    def description(self) -> str:
        """A sentence on what trainings lack on this machine; empty when they lack nothing."""
        if self.refusal:
            lacking = "trainings have a folder in the place of /opt/ml, and channels of FastFile are copies"
            return f"{lacking}, for this machine gives no namespaces: {self.refusal}"
        if self.copies_for:
            return f"channels of FastFile are copies, for this machine mounts none: {self.copies_for}"
        return ""

    def streaming(self, folders: Iterable[Path]) -> list[str]:
        """Return the words that, put before a command, mount folders which are streamed."""
        return self.shown.command(folders) if self.shown else []

    def command(self, base: Path, folder: Path, streamed: Iterable[Path]) -> list[str]:
        """Return the words that, put before a command, run it in a folder of a host whose /opt/ml is `base`."""
        if self.refusal:
            return []
        script = str(Path(__file__).with_name("own_opt_ml.py"))
        enter = ["unshare", *_NAMESPACES, "--propagation", "private"]
        return [*enter, *self.streaming(streamed), sys.executable, "-I", "-S", script, str(base), str(folder)]

    def join(self, hosts: Path) -> str:
        """Return what a shell puts before a command to run it with the mounts of the host that is named `$host`.

        `hosts` is the folder with the hosts' folders. A host that is being laid out is waited for.
        """
        if self.refusal:
            return ""
        waiting = f'until test -s "{hosts}/$host.pid"; do sleep 0.05; done; cat "{hosts}/$host.pid"'
        return f'nsenter {_JOINED} --target "$({waiting})"'

    def _try(self, *, streamed: bool) -> str:
        """Start a first host. Return why that cannot be done here; empty when it worked."""
        with tempfile.TemporaryDirectory(prefix="lc-") as name:
            base = Path(name) / "host"
            folder = base / "channel"
            folder.mkdir(parents=True)
            if streamed and self.shown:
                word = _WORD.encode()
                self.shown.show(Tree([File("file", len(word), 0.0, lambda at, size: word[at : at + size])]), folder)
            else:
                (folder / "file").write_text(_WORD)
            enter = self.command(base, Path("/opt/ml/channel"), [folder] if streamed else [])
            return _failure([*enter, "cat", "file"])


def _failure(command: list[str]) -> str:
    """Run a command that should print our word; return why it did not, or nothing when it did."""
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return "a first host did not start in time"
    if tried.stdout == _WORD:
        return ""
    return tried.stderr.strip().rpartition("\n")[2] or f"a first host ended with {tried.returncode}"
