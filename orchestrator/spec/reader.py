"""Reads sweep.yaml into a Sweep. Whatever is wrong is one SpecError at file:line:column."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_args

from pydantic import BaseModel, ValidationError

from orchestrator.errors import SpecError, did_you_mean
from orchestrator.spec import yaml
from orchestrator.spec.axes import FORMS
from orchestrator.spec.model import shown
from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic_core import ErrorDetails

    from orchestrator.spec.yaml import Document

    ErrorPath = tuple[str | int, ...]

log = logging.getLogger(__name__)

AXIS_FORMS = "a list, bool, {range: [1, 9], step: 2}, {linear: [0, 1], num: 5}, {log: [1e-4, 1], num: 5} or {zip: …}"

_UNKNOWN_KEY = "unknown key"
_NO_KEYS = (("folder",), ("where", "named_types"))
"""Fields of the model that are no keys of the file."""


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
    for no_key in _NO_KEYS:
        if document.has(no_key):
            raise SpecError(f"{_UNKNOWN_KEY} {no_key[-1]!r}", where=f"{path}:{document.position(no_key, of_key=True)}")
    try:
        sweep = Sweep.model_validate(document.value | {"folder": path.resolve().parent})
    except ValidationError as error:
        found = [_explain(one, document) for one in error.errors(include_url=False, include_input=True)]
        raise _first_error(found, path) from error
    complaints = list(check(sweep)) if check else []
    if complaints:
        raise _first_error([_place(complaint, document) for complaint in complaints], path)
    _find_code(sweep, document, path)
    if document.value["train"].get("parallel") == "pytorchddp":
        log.warning(
            "%s:%s: pytorchddp is read as torchrun; "
            "for AWS's own library, which the SageMaker SDK takes it for, write smddp",
            path,
            document.position(("train", "parallel")),
        )
    return sweep


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
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
    source = sweep.folder / sweep.train.source
    if not source.is_dir():
        raise SpecError(f"no folder {source}", where=f"{path}:{document.position(('train', 'source'))}")
    if not (source / sweep.train.entry_point).is_file():
        raise SpecError(
            f"no file {sweep.train.entry_point} in {source}",
            where=f"{path}:{document.position(('train', 'entry_point'))}",
        )


class _Explained(NamedTuple):
    """An error in our words: where it stands, what is wrong, and what to do."""

    position: yaml.Position
    message: str
    hint: str = ""


def _place(complaint: Complaint, document: Document) -> _Explained:
    """Return a complaint with its position; that of an unknown key is where the key stands."""
    of_key = complaint.message.startswith(_UNKNOWN_KEY)
    return _Explained(document.position(complaint.at, of_key=of_key), complaint.message, complaint.hint)


def _first_error(found: list[_Explained], path: Path) -> SpecError:
    """Return the error that stands first in the file; but a misspelt key comes before what it makes missing."""
    misspelt = [error for error in found if error.message.startswith(_UNKNOWN_KEY)]
    chosen = min(misspelt or found, key=lambda error: error.position)
    return SpecError(chosen.message, where=f"{path}:{chosen.position}", hint=chosen.hint)


def _explain(error: ErrorDetails, document: Document) -> _Explained:
    """Return pydantic's error in our words, at its place in the file."""
    context, value = error.get("ctx", {}), error["input"]
    # `<list>` and its like name the form of an axis; they are no part of the path in the file.
    path = tuple(step for step in error["loc"] if not (isinstance(step, str) and step.startswith("<")))
    path += tuple(context.get("at", ()))
    name = ".".join(map(str, path))
    here = document.position(path)
    match error["type"]:
        case "wrong":
            offset = context["offset"]
            if offset and document.quoted(path):
                offset += 1  # the quote itself
            return _Explained(yaml.Position(here.line, here.column + offset), context["message"], context["hint"])
        case "extra_forbidden":
            hint = did_you_mean(str(path[-1]), _keys(error["loc"][:-1]))
            return _Explained(document.position(path, of_key=True), f"{_UNKNOWN_KEY} {path[-1]!r}", hint)
        case "missing":
            return _Explained(document.position(path[:-1], of_key=True), f"{name} is missing")
        case "axis":
            return _Explained(here, f"{name} is not an axis of the space", AXIS_FORMS)
        case "literal_error" | "enum":
            choices = re.findall(r"'([^']*)'", context["expected"])
            if not isinstance(value, str):
                return _Explained(here, f"{name}: expected one word, got {shown(value)}", did_you_mean("", choices))
            return _Explained(here, f"{name}: unknown {shown(value)}", did_you_mean(value.lower(), choices))
        case "string_type":
            return _Explained(here, f"{name}: expected text, got {shown(value)}", "put it in quotes")
        case "too_short" if not value:
            return _Explained(here, f"{name}: there is nothing in it", "name at least one")
        case "string_pattern_mismatch":
            field = _model_at(error["loc"][:-1]).model_fields[str(path[-1])]
            return _Explained(here, f"{name} cannot be {shown(value)}", field.description or "")
        case "model_type" | "dict_type":
            return _Explained(here, f"{name}: expected a mapping, got {shown(value)}")
        case _:
            problem = error["msg"][0].lower() + error["msg"][1:]
            return _Explained(here, f"{name}: {problem.removeprefix('input ')}, got {shown(value)}")


def _keys(loc: ErrorPath) -> list[str]:
    """Return the keys that the model at this place knows."""
    return [name for name in _model_at(loc).model_fields if (*loc, name) not in _NO_KEYS]


def _model_at(loc: ErrorPath) -> Any:
    model: Any = Sweep
    for step in loc:
        if step in FORMS:
            model = FORMS[str(step)]
        elif isinstance(model, type) and issubclass(model, BaseModel):
            model = _model(model.model_fields[str(step)].annotation)
    return model


def _model(annotation: Any) -> Any:
    """Return the model in an annotation such as `Framework | None`."""
    return next((part for part in (annotation, *get_args(annotation)) if hasattr(part, "model_fields")), None)
