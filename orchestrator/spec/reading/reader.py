"""Reads sweep.yaml into a Sweep. Whatever is wrong is one SpecError at file:line:column."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import ValidationError

from orchestrator import files
from orchestrator.errors import SpecError
from orchestrator.spec.model import shown
from orchestrator.spec.reading import yaml
from orchestrator.spec.reading.mistakes import NO_KEYS, UNKNOWN_KEY, Mistake, explain
from orchestrator.spec.reading.plain_secrets import find_plain_secrets
from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from orchestrator.spec.reading.yaml import Document

log = logging.getLogger(__name__)

MOST_BYTES = 20 * 10**6
"""The size of a sweep file, at the most: a space of a million listed values takes less."""


class Complaint(Protocol):
    """Something in a sweep that somebody else cannot honour: in words, and with the path to it in the file."""

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...

    @property
    def at(self) -> tuple[str | int, ...]: ...


def read(path: str | Path, check: Callable[[Sweep], Iterable[Complaint]] | None = None) -> Sweep:
    """Return the sweep that a file describes.

    `check` says what else is wrong with it, such as what a platform cannot do. It is asked about a sweep that is right
    otherwise, and what it complains of is told like any other mistake.
    Raise SpecError at file:line:column for whatever is wrong, also if the code is not where the file says.
    """
    path = Path(path)
    document = yaml.load(_text(path), str(path))
    if document.value is None:
        raise SpecError("the file is empty", where=str(path), hint="`sweep init` writes an example")
    if not isinstance(document.value, dict):
        problem = f"expected keys such as `name:`, got {shown(document.value)}"
        raise SpecError(problem, where=str(path), hint="`sweep init` writes an example")
    for no_key in NO_KEYS:
        if document.has(no_key):
            raise SpecError(f"{UNKNOWN_KEY} {no_key[-1]!r}", where=f"{path}:{document.position(no_key, of_key=True)}")
    try:
        sweep = Sweep.model_validate(document.value | {"folder": path.resolve().parent})
    except ValidationError as error:
        found = [_place_mistake(mistake, document) for mistake in explain(error, Sweep)]
        raise _first_error(found, path) from error
    complaints = [*find_plain_secrets(sweep), *_no_platform(sweep), *(check(sweep) if check else ())]
    if complaints:
        raise _first_error([_place(complaint, document) for complaint in complaints], path)
    try:
        _find_code(sweep, document, path)
    except OSError as error:  # such as a name longer than a folder takes
        position = document.position(("train", "source"))
        raise SpecError(f"cannot be looked for: {error.strerror}", where=f"{path}:{position}") from error
    if document.value["train"].get("parallel") == "pytorchddp":
        log.warning(
            "%s:%s: pytorchddp is read as torchrun; "
            "for AWS's own library, which the SageMaker SDK takes it for, write smddp",
            path,
            document.position(("train", "parallel")),
        )
    return sweep


def _no_platform(sweep: Sweep) -> Iterator[Mistake]:
    """Yield a mistake if the file says that no platform may train. A stored plan has the empty list of one unsaid."""
    if "platforms" in sweep.where.model_fields_set and not sweep.where.platforms:
        hint = "name at least one; without the line, those of the settings may train"
        yield Mistake("where.platforms: there is nothing in it", hint, ("where", "platforms"))


def find_place(key: str, path: Path) -> str:
    """Return where a key stands in a sweep file, such as `platforms.eks.queue`: file:line:column, and the key.

    Where the file has no such key, or cannot be read any more, it is the key alone.
    """
    words = tuple(int(word) if word.isdigit() else word for word in key.split("."))
    try:
        document = yaml.load(_text(path), str(path))
    except SpecError:
        return key
    return f"{path}:{document.position(words)}: {key}" if document.has(words) else key


def _text(path: Path) -> str:
    try:
        if files.check_file(path) > MOST_BYTES:
            raise SpecError(f"more than the {MOST_BYTES // 10**6} MB that a sweep file may have", where=str(path))
        return files.read(path).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SpecError("no such file", where=str(path), hint="`sweep init` writes an example") from error
    except IsADirectoryError as error:
        raise SpecError("this is a folder", where=str(path), hint="name the sweep file in it") from error
    except UnicodeDecodeError as error:
        raise SpecError(
            f"not UTF-8 text: byte {error.start} is 0x{error.object[error.start]:02x}", where=str(path)
        ) from error
    except (OSError, ValueError) as error:
        raise SpecError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=str(path)) from error


def _find_code(sweep: Sweep, document: Document, path: Path) -> None:
    if sweep.train.source is None:
        return
    for index, name in enumerate(sweep.train.dependencies):
        if not (sweep.folder / name).exists():
            position = document.position(("train", "dependencies", index))
            raise SpecError(f"no file or folder {sweep.folder / name}", where=f"{path}:{position}")
    source = sweep.folder / sweep.train.source
    if not sweep.source_is_meant:
        raise SpecError(
            f"{sweep.train.source} lies outside the sweep file's folder",
            where=f"{path}:{document.position(('train', 'source'))}",
            hint="say `source_outside: true` if that is meant: all of it is uploaded",
        )
    if not source.is_dir():
        raise SpecError(f"no folder {source}", where=f"{path}:{document.position(('train', 'source'))}")
    script = sweep.train.script
    if script and not (source / script).is_file():
        raise SpecError(
            f"no file {script} in {source}",
            where=f"{path}:{document.position(('train', 'entry_point'))}",
        )


class _Placed(NamedTuple):
    """An error in our words: where it stands, what is wrong, and what to do."""

    position: yaml.Position
    message: str
    hint: str = ""


def _place(complaint: Complaint, document: Document) -> _Placed:
    """Return a complaint with its position; that of an unknown key is where the key stands."""
    of_key = complaint.message.startswith(UNKNOWN_KEY)
    return _Placed(document.position(complaint.at, of_key=of_key), complaint.message, complaint.hint)


def _place_mistake(mistake: Mistake, document: Document) -> _Placed:
    here = document.position(mistake.at, of_key=mistake.of_key)
    offset = mistake.offset
    if offset and document.quoted(mistake.at):
        offset += 1  # the quote itself
    return _Placed(yaml.Position(here.line, here.column + offset), mistake.message, mistake.hint)


def _first_error(found: list[_Placed], path: Path) -> SpecError:
    """Return the error that stands first in the file; but a misspelt key comes before what it makes missing."""
    misspelt = [error for error in found if error.message.startswith(UNKNOWN_KEY)]
    chosen = min(misspelt or found, key=lambda error: error.position)
    return SpecError(chosen.message, where=f"{path}:{chosen.position}", hint=chosen.hint)
