"""A layer of an image: files in a compressed tar, the same bytes from the same files, wherever and whenever."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOME = "opt/sweep"
"""The folder of the image that packages lie in."""
_COMPILE = (
    "import compileall, sys; from py_compile import PycInvalidationMode as Mode; here, there = sys.argv[1:]; "
    "sys.exit(not compileall.compile_dir("
    "here, quiet=2, stripdir=here, prependdir=there, invalidation_mode=Mode.UNCHECKED_HASH))"
)
_LEVEL = 6


@dataclass(frozen=True)
class Layer:
    """A layer, as registries know it."""

    data: bytes = field(repr=False)
    digest: str
    """The digest of the compressed bytes."""
    diff_id: str
    """The digest of what they contain."""


def make_layer(files: Mapping[str, bytes], *, compiled: bool) -> Layer:
    """Return the layer of these packages. If `compiled`, it has their bytecode for the Python that runs us.

    Ten thousand launchers would each compile it again. Raise SweepError if that fails.
    """
    everything = {**files, **(_bytecode(files) if compiled else {})}
    tar = _tar(everything)
    data = gzip.compress(tar, _LEVEL, mtime=0)
    return Layer(data, digest_of(data), digest_of(tar))


def digest_of(data: bytes) -> str:
    """Return the digest by which registries know some bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _tar(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in sorted(_folders(files)):
            tar.addfile(_entry(f"{folder}/", tarfile.DIRTYPE, 0o755))
        for name in sorted(files):
            entry = _entry(f"{HOME}/{name}", tarfile.REGTYPE, 0o644)
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))
    return packed.getvalue()


def _folders(files: Mapping[str, bytes]) -> set[str]:
    every = (parent for name in files for parent in PurePosixPath(HOME, name).parents)
    return {str(folder) for folder in every if folder.is_relative_to(HOME)}


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    """Return an entry that tells nothing of who packed it, and when."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, 0
    return entry


def _bytecode(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the bytecode of all modules. It is compiled in a process of its own, so that nothing but them counts."""
    with tempfile.TemporaryDirectory(prefix="sweep-image-") as name:
        folder = Path(name)
        for each, data in files.items():
            if each.endswith(".py"):
                file = folder / each
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-S", "-c", _COMPILE, str(folder), f"/{HOME}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SweepError(f"the launcher's packages cannot be compiled: {done.stderr.strip()[-300:]}")
        return dict(_compiled(folder))


def _compiled(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*.pyc")):
        yield path.relative_to(folder).as_posix(), path.read_bytes()
