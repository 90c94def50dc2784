"""sweep.yaml → Sweep. Whatever is wrong is one SpecError at file:line:column."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from orchestrator.errors import SpecError, did_you_mean
from orchestrator.spec import yaml
from orchestrator.spec.axes import FORMS
from orchestrator.spec.model import shown
from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from orchestrator.spec.yaml import Document

    Path_ = tuple[str | int, ...]

log = logging.getLogger(__name__)


def read(path: str | Path) -> Sweep:
    """The sweep that a file describes; its folder, and the code's place in it, are checked too."""
    path = Path(path)
    document = yaml.load(_text(path), str(path))
    if not isinstance(document.value, dict):
        raise SpecError(
            "the file is empty"
            if document.value is None
            else f"expected keys such as `name:`, got {shown(document.value)}",
            where=str(path),
            hint="`sweep init` writes an example",
        )
    if "folder" in document.value:
        raise SpecError("unknown key 'folder'", where=f"{path}:{document.position(('folder',), of_key=True)}")
    try:
        sweep = Sweep.model_validate(document.value | {"folder": path.resolve().parent})
    except ValidationError as error:
        raise _first(error, document, path) from error
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


def _first(errors: ValidationError, document: Document, path: Path) -> SpecError:
    """Of all that is wrong, what stands first in the file; but a misspelt key before what it makes missing."""
    told = [_told(error, document) for error in errors.errors(include_url=False, include_input=True)]
    position, message, hint = min(told, key=lambda told: (not told[1].startswith("unknown key"), told[0]))
    return SpecError(message, where=f"{path}:{position}", hint=hint)


def _told(error: ErrorDetails, document: Document) -> tuple[yaml.Position, str, str]:
    """Where, what, and what to do."""
    context = error.get("ctx", {})
    # `<list>` and its like name the form of an axis; they are no part of the path in the file.
    path = tuple(step for step in error["loc"] if not (isinstance(step, str) and step.startswith("<")))
    path += tuple(context.get("at", ()))
    name = ".".join(map(str, path))
    match error["type"]:
        case "wrong":
            position = document.position(path)
            offset = context["offset"] + (1 if context["offset"] and document.quoted(path) else 0)
            return yaml.Position(position.line, position.column + offset), context["message"], context["hint"]
        case "extra_forbidden":
            hint = did_you_mean(str(path[-1]), _keys(error["loc"][:-1]))
            return document.position(path, of_key=True), f"unknown key {path[-1]!r}", hint
        case "missing":
            return document.position(path[:-1], of_key=True), f"{name} is missing", ""
        case "axis":
            hint = (
                "a list, bool, {range: [1, 9], step: 2}, {linear: [0, 1], num: 5}, {log: [1e-4, 1], num: 5} or {zip: …}"
            )
            return document.position(path), f"{name} is not an axis of the space", hint
        case "literal_error" | "enum":
            choices, found = re.findall(r"'([^']*)'", context["expected"]), error["input"]
            if not isinstance(found, str):
                return (
                    document.position(path),
                    f"{name}: expected one word, got {shown(found)}",
                    did_you_mean("", choices),
                )
            return document.position(path), f"{name}: unknown {shown(found)}", did_you_mean(found.lower(), choices)
        case "string_type":
            return document.position(path), f"{name}: expected text, got {shown(error['input'])}", "put it in quotes"
        case "too_short" if not error["input"]:
            return document.position(path), f"{name}: there is nothing in it", "name at least one"
        case "string_pattern_mismatch":
            field = _model_at(error["loc"][:-1]).model_fields[str(path[-1])]
            return document.position(path), f"{name} cannot be {shown(error['input'])}", field.description or ""
        case "model_type" | "dict_type":
            return document.position(path), f"{name}: expected a mapping, got {shown(error['input'])}", ""
        case _:
            said = error["msg"][0].lower() + error["msg"][1:]
            return document.position(path), f"{name}: {said.removeprefix('input ')}, got {shown(error['input'])}", ""


def _keys(loc: Path_) -> list[str]:
    """The keys that the model at this place knows."""
    return [name for name in _model_at(loc).model_fields if name != "folder"]


def _model_at(loc: Path_) -> Any:
    model: Any = Sweep
    for step in loc:
        if step in FORMS:
            model = FORMS[str(step)]
        elif isinstance(model, type) and issubclass(model, BaseModel):
            model = _model(model.model_fields[str(step)].annotation)
    return model


def _model(annotation: Any) -> Any:
    """The model in an annotation such as `Framework | None`."""
    return next((part for part in (annotation, *get_args(annotation)) if hasattr(part, "model_fields")), None)
