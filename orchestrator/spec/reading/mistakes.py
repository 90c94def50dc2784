"""What pydantic finds wrong with a part of the sweep file, in our words and with the path to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from orchestrator.errors import did_you_mean, said_plainly
from orchestrator.spec.model import shown
from orchestrator.spec.space import axes
from orchestrator.spec.train import environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    Path = tuple[str | int, ...]

AXIS_FORMS = "a list, bool, {range: [1, 9], step: 2}, {linear: [0, 1], num: 5}, {log: [1e-4, 1], num: 5} or {zip: …}"
UNKNOWN_KEY = "unknown key"
_FORMS = axes.FORMS | environment.FORMS
"""Models by the tags that pydantic puts into an error's path, where several are possible."""
NO_KEYS = (("folder",), ("warm",), ("where", "named_types"))
"""Fields of the sweep's model that are no keys of the file."""


@dataclass(frozen=True)
class Mistake:
    """Something that is wrong in the sweep file: in words, with what to do, and with the path to it."""

    message: str
    hint: str
    at: Path
    of_key: bool = False
    """It is the key that is wrong, and not its value."""
    offset: int = 0
    """The place in the value's text."""


def find_mistakes(model: type[BaseModel], body: Mapping[str, Any], at: Path) -> list[Mistake]:
    """Return what is wrong with a part of the sweep file that is to be this model; `at` is the path to the part."""
    try:
        model.model_validate(body)
    except ValidationError as error:
        return explain(error, model, at)
    return []


def explain(error: ValidationError, model: type[BaseModel], at: Path = ()) -> list[Mistake]:
    """Return pydantic's errors in our words; `at` is the path to the part of the file that is this model."""
    return [_explain(one, model, at) for one in error.errors(include_url=False, include_input=True)]


def _is_form(step: str | int) -> bool:
    return isinstance(step, str) and step.startswith("<")


def _explain(error: ErrorDetails, model: type[BaseModel], at: Path) -> Mistake:
    context, value = error.get("ctx", {}), error["input"]
    # `<list>` and its like name the form of a value; they are no part of the path in the file.
    # A key that nobody knows may look so itself, though.
    is_key = error["type"] == "extra_forbidden"
    last = len(error["loc"]) - 1
    steps = (step for place, step in enumerate(error["loc"]) if not _is_form(step) or (is_key and place == last))
    path = (*at, *steps)
    path += tuple(context.get("at", ()))
    name = ".".join(map(str, path))
    match error["type"]:
        case "wrong":
            return Mistake(context["message"], context["hint"], path, offset=context["offset"])
        case "extra_forbidden":
            hint = did_you_mean(str(path[-1]), _keys(model, error["loc"][:-1]))
            return Mistake(f"{UNKNOWN_KEY} {path[-1]!r}", hint, path, of_key=True)
        case "missing":
            return Mistake(f"{name} is missing", "", path[:-1], of_key=True)
        case "axis":
            return Mistake(f"{name} is not an axis of the space", AXIS_FORMS, path)
        case "variable":
            return Mistake(f"{name} is no value of a variable", environment.unknown_form(value), path)
        case "literal_error" | "enum":
            choices = re.findall(r"'([^']*)'", context["expected"])
            if not isinstance(value, str):
                return Mistake(f"{name}: expected one word, got {shown(value)}", did_you_mean("", choices), path)
            return Mistake(f"{name}: unknown {shown(value)}", did_you_mean(value.lower(), choices), path)
        case "string_type":
            return Mistake(f"{name}: expected text, got {shown(value)}", "put it in quotes", path)
        case "too_short" if not value:
            return Mistake(f"{name}: there is nothing in it", "name at least one", path)
        case "string_pattern_mismatch":
            field = _model_at(model, error["loc"][:-1]).model_fields[str(path[-1])]
            return Mistake(f"{name} cannot be {shown(value)}", field.description or "", path)
        case "model_type" | "dict_type":
            return Mistake(f"{name}: expected a mapping, got {shown(value)}", "", path)
        case _:
            said = said_plainly(error["msg"])
            problem = said[0].lower() + said[1:]
            return Mistake(f"{name}: {problem.removeprefix('input ')}, got {shown(value)}", "", path)


def _keys(model: type[BaseModel], loc: Path) -> list[str]:
    """Return the keys that the model at this place knows."""
    return [name for name in _model_at(model, loc).model_fields if (*loc, name) not in NO_KEYS]


def _model_at(model: Any, loc: Path) -> Any:
    """Return the model at this place. Keys of a mapping and places of a list do not lead into another one."""
    for step in loc:
        if step in _FORMS:
            model = _FORMS[str(step)]
        elif isinstance(model, type) and issubclass(model, BaseModel) and step in model.model_fields:
            model = _model(model.model_fields[str(step)].annotation)
    return model


def _model(annotation: Any) -> Any:
    """Return the model in an annotation such as `Framework | None`, `dict[str, Framework]` or `list[Framework]`."""
    if hasattr(annotation, "model_fields"):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model(part)) is not None), None)
