"""Packs a source folder into one archive: same content, same bytes, on every machine and at every time.

`.sweepignore` in the folder keeps files out, a pattern a line, as in .gitignore but simpler: `data/` is a folder of
that name anywhere, `*.ckpt` a file or folder anywhere, `notes/*.md` a path from the top (there `*` goes across
slashes). `#` begins a comment. What we write ourselves (plans, the database, a local cloud's files) is never packed.

Code that imports `orchestrator` finds it in its training, whatever the image: `Checkpoints` and `report` travel along.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from orchestrator.errors import SpecError, did_you_mean
from orchestrator.files import is_database, is_local_cloud, is_plan
from orchestrator.secrecy import ALLOWED, find_key
from orchestrator.wire.names import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

IGNORE_FILE = ".sweepignore"
SKIPPED = (
    ".git", ".hg", ".svn", "__pycache__", "*.pyc", ".venv/", "venv/", "*.egg-info", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".hypothesis", ".ipynb_checkpoints", ".tox", ".nox", "node_modules", ".DS_Store", ".idea", ".vscode",
    "sweep.toml", IGNORE_FILE,
)  # fmt: skip
"""Patterns of files and folders that are never part of a training's code."""
SECRETS = (
    ".env", ".env.*", "*.env", ".envrc", ".aws", ".boto", ".docker", ".dockercfg", ".kube", ".ssh", ".netrc", ".npmrc",
    ".pgpass", ".pypirc", ".htpasswd", ".git-credentials", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem",
    "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.tfvars", "client_secret*.json",
    "service[-_]account*.json", "kaggle.json",
    *(f"{stem}{end}" for stem in ("*credential", "*credentials", "*secret", "*secrets", "*secret[-_]key", "*accesskeys",
                                  "*access[-_]key", "*access[-_]keys", "*api[-_]key", "*api[-_]keys", "*apikey",
                                  "*password", "*passwords", "rootkey", "token")
      for end in ("", ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".csv", ".txt")),
)  # fmt: skip
"""Patterns of file names that hold keys more often than code."""
_FOR_SCRIPTS = ("__init__", "checkpoint", "metadata", "notice", "process", "report")
_FOR_STARTER = (
    "__init__", "aws_call", "credentials", "metadata", "process", "references", "secrets", "signature",
    "start", "starter/__init__", "starter/causes", "starter/command", "starter/launch", "starter/machine",
    "starter/meeting", "starter/ranks", "starter/variables", "starter/words",
)  # fmt: skip
_FOR_BARE_MACHINES = (
    "__init__", "__main__", "assignment", "machine_run", "notices",
    *(f"files/{name}" for name in ("__init__", "bucket", "folders", "saving", "transfer")),
    *(f"running/{name}" for name in ("__init__", "child", "container", "surroundings")),
    *(f"telling/{name}" for name in ("__init__", "logs", "outcome", "usage")),
    *(f"together/{name}" for name in ("__init__", "coming_back", "leave", "meet", "place", "ssh")),
)  # fmt: skip


def _ours(names: Iterable[str]) -> tuple[Path, ...]:
    return (Path("orchestrator", "__init__.py"), *(Path("orchestrator", "training", f"{name}.py") for name in names))


HELPERS = _ours(_FOR_SCRIPTS)
"""The files of ours that a training script may import: they need nothing but Python."""
STARTER = _ours(_FOR_STARTER)
"""The files of ours that start a training where AWS's toolkit cannot: they need nothing but Python."""
BARE = (*_ours((*_FOR_STARTER, "notice")), *_ours(f"bare/{name}" for name in _FOR_BARE_MACHINES)[1:])
"""The files of ours that a machine needs where no SageMaker brings the training: the starter, and what is around it."""
_TEXT = 8192
"""Bytes at a file's beginning without a zero byte, if it is text."""
_OURS = Path(__file__).parents[2]
_IMPORTS_US = re.compile(rb"^[ \t]*(?:from[ \t]+|import[ \t]+(?:[^#\n]*,[ \t]*)?)orchestrator\b", re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """A packed source folder."""

    digest: str
    """A digest of the content: the archive's own bytes depend on the zlib at hand as well."""
    body: bytes
    """The .tar.gz archive."""
    files: tuple[str, ...]
    """The names of the files in it, for people to look at."""


class _Entry(NamedTuple):
    """A file to be packed: a folder, its path in there, and the folder of the archive that it goes to."""

    folder: Path
    path: Path
    under: Path = Path()

    @property
    def name(self) -> str:
        return (self.under / self.path).as_posix()


def pack(
    folder: Path, entry_point: str | None = None, *, ours: Sequence[Path] = (), dependencies: Sequence[Path] = ()
) -> Package:
    """Return the folder as an archive, without times, owners and what is ignored.

    Code that imports us takes our helpers along. `ours` are more files of ours, such as STARTER. Each of
    `dependencies`, a file or a folder, lies beside the folder's own files. Raise SpecError when something cannot be
    read, when the folder lacks the entry point or has what a dependency is called, or when there is what looks like a
    secret.
    """
    if not folder.is_dir():
        raise SpecError(
            "there is no such source folder", where=str(folder), hint="`source` is relative to the sweep file"
        )
    files = sorted(_files(folder), key=lambda path: path.as_posix())
    names = tuple(path.as_posix() for path in files)
    if entry_point is not None and entry_point not in names:
        raise SpecError(
            f"the entry point {entry_point} is not in the source folder",
            where=str(folder),
            hint=did_you_mean(entry_point, [name for name in names if name.endswith((".py", ".sh"))]),
        )
    entries = [_Entry(folder, path) for path in files]
    for dependency in dependencies:
        if dependency.name in {entry.name.partition("/")[0] for entry in entries}:
            raise SpecError(f"{dependency.name} would be there twice", where=str(dependency), hint="rename one of them")
        entries += _entries(dependency)
    return _package([*entries, *(_Entry(_OURS, path) for path in _helpers(folder, files, ours))])


def pack_no_code(ours: Sequence[Path] = ()) -> Package:
    """Return an archive for trainings that have no code of the user's: with these files of ours, or empty."""
    return _package([_Entry(_OURS, path) for path in ours])


def _package(entries: list[_Entry]) -> Package:
    archive = _tar(entries)
    names = tuple(entry.name for entry in entries)
    return Package(digest(archive, 32), gzip.compress(archive, compresslevel=6, mtime=0), names)


def _entries(dependency: Path) -> list[_Entry]:
    """Return the files of a dependency, under its own name."""
    if dependency.is_dir():
        inside = sorted(_files(dependency), key=lambda path: path.as_posix())
        return [_Entry(dependency, path, Path(dependency.name)) for path in inside]
    if not dependency.exists():
        raise SpecError("there is no such file or folder", where=str(dependency), hint="`train.dependencies` names it")
    _refuse_secret(dependency.parent, Path(dependency.name))
    return [_Entry(dependency.parent, Path(dependency.name))]


def _files(folder: Path) -> Iterator[Path]:
    """Yield every file and link to be packed, relative to the folder."""
    ignored = (*SKIPPED, *_patterns(folder))
    for parent, folders, files in os.walk(folder, onerror=_unreadable):
        here = Path(parent).relative_to(folder)
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = [
            name
            for name in folders
            if name not in links
            and not _matches(here / name, ignored, folder=True)
            and not is_local_cloud(folder / here / name)
        ]
        for name in folders:
            _refuse_secret(folder, here / name)
        for name in (*files, *links):
            path = here / name
            if not _matches(path, ignored, folder=name in links) and not _is_ours(folder / path):
                _refuse_secret(folder, path)
                yield path


def _is_ours(path: Path) -> bool:
    """Return whether a file is no code but what we wrote ourselves: it changes while the code stays the same."""
    return not path.is_symlink() and (is_plan(path) or is_database(path))


def _patterns(folder: Path) -> list[str]:
    file = folder / IGNORE_FILE
    if not file.exists():
        return []
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {error}", where=str(file)) from error
    for number, line in enumerate(lines, 1):
        if line.startswith("!"):
            raise SpecError(
                "patterns cannot be taken back with !", where=f"{file}:{number}", hint="list what to ignore"
            )
    return [line for line in lines if line and not line.startswith("#")]


def _matches(path: Path, patterns: Iterable[str], *, folder: bool) -> bool:
    return any(_match(path, pattern, folder=folder) for pattern in patterns)


def _match(path: Path, pattern: str, *, folder: bool) -> bool:
    if pattern.endswith("/") and not folder:
        return False
    bare = pattern.rstrip("/")
    return fnmatchcase(path.as_posix() if "/" in bare else path.name, bare.lstrip("/"))


def _refuse_secret(folder: Path, path: Path) -> None:
    if any(fnmatchcase(path.name.lower(), pattern) for pattern in SECRETS):
        raise SpecError(
            f"{path.as_posix()} looks like a secret and would be uploaded",
            where=str(folder),
            hint=f"move it elsewhere, or list it in {IGNORE_FILE}",
        )


def _refuse_key(file: _Entry, content: bytes) -> None:
    """Raise SpecError when there is a key in a file, whatever its name. Files of ours have none."""
    found = find_key(content) if file.folder != _OURS and b"\0" not in content[:_TEXT] else None
    if found is not None:
        kind, line = found
        raise SpecError(
            f"{file.path.as_posix()}:{line} has what looks like {kind}, and would be uploaded",
            where=str(file.folder),
            hint=f"take it out, list the file in {IGNORE_FILE}, or say `{ALLOWED}` in that line if it is none",
        )


def _helpers(folder: Path, files: Sequence[Path], ours: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files of ours that the code takes along. A folder with an `orchestrator` of its own keeps its own."""
    if any(path.parts[0] in ("orchestrator", "orchestrator.py") for path in files):
        if ours:
            raise SpecError(
                "there is an `orchestrator` in the source folder, where sweep's starter belongs",
                where=str(folder),
                hint=f"rename it, or list it in {IGNORE_FILE}",
            )
        return ()
    helpers = HELPERS if _imports_ours(folder, files) else ()
    return tuple(dict.fromkeys((*helpers, *ours)))


def _imports_ours(folder: Path, files: Sequence[Path]) -> bool:
    """Return whether some file imports `orchestrator`."""
    scripts = [folder / path for path in files if path.suffix == ".py" and (folder / path).is_file()]
    try:
        return any(_IMPORTS_US.search(script.read_bytes()) for script in scripts)
    except OSError as error:
        _unreadable(error)


def _tar(files: Iterable[_Entry]) -> bytes:
    """Return a .tar of these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in files:
            _add(archive, file)
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, file: _Entry) -> None:
    """Add a file with its name, its content and its right to be executed.

    All else that a file has differs between machines, and is left out.
    """
    source, entry = file.folder / file.path, tarfile.TarInfo(file.name)
    try:
        if source.is_symlink():
            entry.type, entry.linkname = tarfile.SYMTYPE, _target(file.folder, file.path)
            archive.addfile(entry)
            return
        if not source.is_file():
            raise SpecError("neither a file nor a folder", where=str(source), hint=f"list it in {IGNORE_FILE}")
        content = source.read_bytes()
        _refuse_key(file, content)
        entry.size = len(content)
        entry.mode = 0o755 if source.stat().st_mode & 0o100 else 0o644
        archive.addfile(entry, io.BytesIO(content))
    except OSError as error:
        _unreadable(error)


def _target(folder: Path, path: Path) -> str:
    """Return where a link leads, relative to itself. Raise SpecError when it leads out of the folder, or nowhere."""
    link, root = folder / path, folder.resolve()
    target = link.resolve()
    if not target.is_relative_to(root) or not target.exists():
        fault = "leads out of the source folder" if target.exists() else "leads nowhere"
        raise SpecError(f"the link {path.as_posix()} {fault}", where=str(folder), hint="put the file itself there")
    return Path(os.path.relpath(target, link.parent.resolve())).as_posix()


def _unreadable(error: OSError) -> NoReturn:
    raise SpecError(
        f"cannot be read: {error.strerror}", where=str(error.filename), hint="check its permissions"
    ) from error
