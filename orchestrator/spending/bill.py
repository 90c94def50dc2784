"""AWS's bill: a Cost and Usage Report, as CSV or Parquet, legacy or 2.0, by the tag that names the run.

The tag `sweep:run` must be a cost allocation tag of the account: only then the report has it.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from math import fsum
from typing import IO, TYPE_CHECKING, Any

from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from orchestrator.spending.paid import MonthSpan

COST, STARTS, KIND = "line_item_unblended_cost", "line_item_usage_start_date", "line_item_line_item_type"
PRODUCT = "line_item_product_code"
TAG, TAGS = "resource_tags_user_sweep_run", "resource_tags"
NOT_USAGE = ("Tax", "Credit", "Refund")
"""Kinds of lines that no training causes."""


@dataclass
class Bill:
    """What AWS has billed for each run on each day, in dollars."""

    usd: dict[tuple[str, str], float] = field(default_factory=dict)
    untagged: float = 0.0
    """Dollars of the services that runs use, on lines that carry no run's tag."""

    @property
    def runs(self) -> dict[str, float]:
        found: defaultdict[str, float] = defaultdict(float)
        for (run, _), usd in self.usd.items():
            found[run] += usd
        return dict(found)


def read_bill(file: Path, month: MonthSpan) -> Bill:
    """Return what a Cost and Usage Report says of a month. UsageError, with the line, for what is none."""
    lines = _parquet(file) if file.name.endswith(".parquet") else _csv(file)
    return _add(lines, month, str(file))


def _add(lines: Iterable[tuple[int, dict[str, Any]]], month: MonthSpan, file: str) -> Bill:
    usd: defaultdict[tuple[str, str], float] = defaultdict(float)
    others: defaultdict[Any, float] = defaultdict(float)
    services, seen = set(), False
    for number, line in lines:
        if not seen:
            _check_columns(line, file)
            seen = True
        if line.get(KIND) in NOT_USAGE:
            continue
        day = str(line[STARTS] or "")[:10]
        if not day.startswith(month.name):
            continue
        try:
            amount = float(line[COST] or 0)
        except (TypeError, ValueError) as error:
            where = f"{file}:{number}"
            raise UsageError(f"{str(line[COST])[:40]!r} is no amount of dollars", where=where) from error
        run = _run(line)
        if run:
            usd[run, day] += amount
            services.add(line.get(PRODUCT))
        elif line.get(PRODUCT):
            others[line[PRODUCT]] += amount
    return Bill(dict(usd), fsum(others[service] for service in services if service in others))


def _check_columns(line: Mapping[str, Any], file: str) -> None:
    missing = [name for name in (COST, STARTS) if name not in line]
    if missing:
        hint = "a Cost and Usage Report has lineItem/UnblendedCost, or line_item_unblended_cost"
        raise UsageError(f"no Cost and Usage Report: it has no column {missing[0]}", where=file, hint=hint)
    if TAG not in line and TAGS not in line:
        hint = "make `sweep:run` a cost allocation tag in AWS's billing console: reports have it from then on"
        raise UsageError("the report has no column for the tag sweep:run", where=file, hint=hint)


def _run(line: Mapping[str, Any]) -> str:
    """Return the run that a line is tagged with; nothing if it carries no such tag."""
    if line.get(TAG):
        return str(line[TAG])
    tags = line.get(TAGS) or {}
    if isinstance(tags, str):
        try:
            tags = json.loads(tags)
        except ValueError:
            return ""
    pairs = tags.items() if isinstance(tags, dict) else tags
    return next((str(value) for name, value in pairs if _plain(f"resource_tags_{name}") == TAG and value), "")


def _plain(name: str) -> str:
    """Return a column's name as all reports have it: lineItem/UnblendedCost is line_item_unblended_cost."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _csv(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with _text(file) as stream:
            reader = csv.reader(stream)
            names = [_plain(name) for name in next(reader, [])]
            if not names:
                raise UsageError("the file is empty", where=str(file))
            for values in reader:
                if values:
                    yield reader.line_num, dict(zip(names, values, strict=False)) | dict.fromkeys(names[len(values) :])
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot be read: {error}", where=str(file)) from error


def _text(file: Path) -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _parquet(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        hint = "pip install 'sweep-orchestrator[parquet]', or give the report as CSV"
        raise UsageError("Parquet files need pyarrow", where=str(file), hint=hint) from error
    try:
        with ParquetFile(file) as opened:
            wanted = [
                name for name in opened.schema_arrow.names if _plain(name) in (COST, STARTS, KIND, PRODUCT, TAG, TAGS)
            ]
            number = 0
            for batch in opened.iter_batches(columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {_plain(name): value for name, value in row.items()}
    except (OSError, ArrowException) as error:
        raise UsageError(f"cannot be read: {' '.join(str(error).split())[:120]}", where=str(file)) from error
