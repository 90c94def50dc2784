from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.jsonable import jsonable
from orchestrator.wire.result import TaskState


@dataclass(frozen=True)
class Leaf:
    when: date
    where: Path
    loss: float


@dataclass(frozen=True)
class Tree:
    states: dict[TaskState, int]
    leaves: tuple[Leaf, ...]


def test_a_declared_type_becomes_json_by_its_fields() -> None:
    tree = Tree({TaskState.DONE: 3}, (Leaf(date(2026, 11, 20), Path("a/b"), math.nan),))
    assert jsonable(tree) == {
        "states": {"done": 3},
        "leaves": [{"when": "2026-11-20", "where": "a/b", "loss": None}],
    }


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.integers(), st.lists, max_leaves=20))
def test_whatever_is_shown_is_json_that_every_reader_takes(value: object) -> None:
    json.dumps(jsonable(value), allow_nan=False)
