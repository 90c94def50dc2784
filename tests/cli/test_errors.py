"""An error is a line that can be read, whatever is quoted in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator.cli.errors import shortened, show_error
from orchestrator.errors import SpecError

if TYPE_CHECKING:
    import pytest


def test_what_people_write_is_shown_whole() -> None:
    text = f"no folder /data/team/{'a' * 235} (name another)"
    assert shortened(text) == text


def test_of_a_long_word_the_beginning_and_the_end_are_shown() -> None:
    path = f"/data/{'a' * 9000}/train.py"
    text = shortened(f"no file {path} (name another)")
    assert text.startswith("no file /data/aaa")
    assert text.endswith("aaa/train.py (name another)")
    assert len(text) < 250


def test_many_words_are_shortened_in_the_middle() -> None:
    text = shortened(f"first {'word ' * 1000}last")
    assert (text[:5], text[-4:], len(text)) == ("first", "last", 800)


def test_json_has_short_parts_too(capsys: pytest.CaptureFixture[str]) -> None:
    error = SpecError("unknown key", where="sweep.yaml:3:1", hint=f"did you mean {'9' * 400!r}?")
    assert show_error(error, debug=False, as_json=True) == 2
    parts = json.loads(capsys.readouterr().err)["error"]
    assert parts["where"] == "sweep.yaml:3:1"
    assert len(parts["hint"]) < 256
