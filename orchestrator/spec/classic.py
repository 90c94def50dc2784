"""Reads a classic JOBARRAY as input: a Region and the data there, and below a header line whatever it names besides.

region,s3_uri,learning_rate,instance_type,image
us-east-1,s3://lab/a/,0.01,ml.g5.xlarge,{account}.dkr.ecr.{region}.amazonaws.com/steering:7
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import PydanticCustomError

from orchestrator import files
from orchestrator.errors import SpecError, did_you_mean
from orchestrator.spec.train.image import check_image, registry_region
from orchestrator.spec.train.train import parameter_name
from orchestrator.wire.manifest import BadLine, ClassicLine, parse
from orchestrator.wire.task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Scalar

_FIRST = ("region", "s3_uri")
_TYPE = "instance_type"
_IMAGE = "image"
_OF_ALL = ("framework", "source", "entry_point", "command", "parallel", "instances", "environment")
"""Columns that look like parameters, and would be meant as parts of `train`."""


class _Lines(NamedTuple):
    """The lines of a file with their places, and the columns that its header names."""

    columns: tuple[str, ...] | None
    lines: list[tuple[str, str]]


def read_classic(path: Path) -> list[ClassicLine]:
    """Return the lines of a file that are not empty.

    Raise SpecError if the file has none, or holds a line that is not classic. A manifest of our own is not classic:
    it already says what each task is.
    """
    try:
        text = files.read(path).decode().replace("\r\n", "\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=str(path)) from error
    columns, lines = _below_header([(line, f"{path}:{n}") for n, line in enumerate(text, start=1) if line.strip()])
    if not lines:
        raise SpecError("there are no lines in it", where=str(path), hint="write region,s3_uri lines")
    if columns is None:
        return [_line(line, where) for line, where in lines]
    return [_line_below(columns, line, where) for line, where in lines]


def check_lines(sweep: Sweep, lines: Sequence[ClassicLine]) -> None:
    """Raise SpecError for a column that the sweep file says already, and for a type that it does not allow."""
    known = {parameter.name for parameter in sweep.parameters}
    for name in dict.fromkeys(name for line in lines for name in line.point):
        if name in known:
            raise SpecError(f"{name} is a column of the manifest and a parameter of the sweep", hint="keep one of them")
    allowed = sweep.where.instance_types
    for wanted in dict.fromkeys(line.instance_type for line in lines if line.instance_type):
        if wanted not in allowed:
            hint = did_you_mean(wanted, allowed)
            raise SpecError(f"{wanted}, a type of the manifest, is not in where.instance_types", hint=hint)


def _below_header(lines: list[tuple[str, str]]) -> _Lines:
    """Return the lines without their header. A header begins with the words `region,s3_uri`."""
    if not lines:
        return _Lines(None, [])
    header, where = lines[0]
    columns = tuple(name.strip() for name in _cells(header, where))
    if columns[:2] != _FIRST:
        return _Lines(None, lines)
    for name in columns[2:]:
        _check_column(name, columns, where)
    return _Lines(columns, lines[1:])


def _check_column(name: str, columns: tuple[str, ...], where: str) -> None:
    if columns.count(name) > 1:
        raise SpecError(f"there are two columns {name}", where=where, hint="leave one out")
    if name in _OF_ALL:
        hint = f"write train.{name} in the sweep file, and a manifest for each"
        raise SpecError(f"all lines of a manifest have the same {name}", where=where, hint=hint)
    try:
        parameter_name(name)
    except PydanticCustomError as error:
        context = error.context or {}
        raise SpecError(f"a column: {context['message']}", where=where, hint=context["hint"]) from error


def _line(text: str, where: str) -> ClassicLine:
    try:
        line = parse(text)
    except BadLine as error:
        hint = "a header line region,s3_uri,... names further columns" if text.count(",") > 1 else ""
        raise SpecError(str(error), where=where, hint=hint) from error
    if isinstance(line, Task):
        raise SpecError("this line holds a task of another run", where=where, hint="`sweep retry` runs tasks again")
    return line


def _line_below(columns: tuple[str, ...], text: str, where: str) -> ClassicLine:
    """Return a line below a header. An empty cell says nothing."""
    cells = _cells(text, where)
    if len(cells) != len(columns):
        hint = "put a value with a comma in double quotes"
        raise SpecError(f"{len(cells)} cells, where the header names {len(columns)}", where=where, hint=hint)
    line = _line(",".join(cells[:2]), where)
    said = {name: cell.strip() for name, cell in zip(columns[2:], cells[2:], strict=True) if cell.strip()}
    instance_type, image = said.pop(_TYPE, ""), said.pop(_IMAGE, "")
    if image:
        _check_image(image, line.region, where)
    point = {name: _value(cell) for name, cell in said.items()}
    return ClassicLine(line.region, line.s3_uri, point, instance_type, image)


def _check_image(image: str, region: str, where: str) -> None:
    try:
        check_image(image)
    except PydanticCustomError as error:
        context = error.context or {}
        raise SpecError(f"image: {context['message']}", where=where, hint=context["hint"]) from error
    lies_in = registry_region(image)
    if lies_in not in ("", region):
        message = f"image: it lies in the ECR of {lies_in}, and a training in {region} cannot pull it from there"
        raise SpecError(message, where=where, hint="write {region} in its place")


def _cells(text: str, where: str) -> list[str]:
    try:
        return next(csv.reader([text]))
    except csv.Error as error:
        raise SpecError(f"not columns of CSV: {error}", where=where) from error


def _value(cell: str) -> Scalar:
    """Return a cell as a value: a number, true or false as JSON writes them, else text."""
    try:
        value = json.loads(cell, parse_constant=str)
    except ValueError:
        return cell
    return value if isinstance(value, bool | int | float) else cell
