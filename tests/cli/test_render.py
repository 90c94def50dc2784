from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.cli import render
from orchestrator.cli.render import Column


@dataclass(frozen=True)
class City:
    name: str | None
    people: int


COLUMNS: tuple[Column[City], ...] = (
    Column("name", lambda city: city.name, title="Town name"),
    Column("people", lambda city: city.people, "{:,}".format, right=True),
)
CITIES = [City("Oslo", 709_000), City("Reykjavík", 139_000)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def ordinary_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_piped_table_is_aligned_and_has_no_frame(capsys: pytest.CaptureFixture[str]) -> None:
    render.as_table(CITIES, COLUMNS)
    assert capsys.readouterr().out == (
        "TOWN_NAME   PEOPLE\n"
        "Oslo       709,000\n"
        "Reykjavík  139,000\n"
    )  # fmt: skip


def test_an_empty_cell_of_a_piped_table_still_counts_as_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    render.as_table([City(None, 1)], COLUMNS)
    assert capsys.readouterr().out.splitlines()[1].split() == ["-", "1"]


def test_a_value_of_several_lines_stays_on_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    render.as_table([City("New\nYork", 1)], COLUMNS)
    assert capsys.readouterr().out.splitlines()[1].startswith("New York")


def test_a_table_on_a_terminal_has_colour() -> None:
    stream = Terminal()
    render.as_table(CITIES, COLUMNS, stream)
    assert "\x1b[" in stream.getvalue()


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert render.paint("word", "red", Terminal()) == "word"


def test_a_pipe_gets_no_colour() -> None:
    assert render.paint("word", "red", io.StringIO()) == "word"


def test_a_name_in_brackets_is_shown_as_it_is() -> None:
    stream = Terminal()
    render.as_table([City("[bold]x[/bold]", 1)], COLUMNS, stream)
    assert "[bold]x[/bold]" in stream.getvalue()


def test_csv_has_plain_values_under_their_keys(capsys: pytest.CaptureFixture[str]) -> None:
    render.as_csv(CITIES, COLUMNS)
    assert capsys.readouterr().out == "name,people\nOslo,709000\nReykjavík,139000\n"


@given(name=st.text(st.characters(exclude_categories=("Cs",))))
@example(name="\0")
def test_csv_holds_any_text(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stream = io.StringIO()
        patch.setattr("sys.stdout", stream)
        render.as_csv([City(name, 1)], COLUMNS)
    [row] = list(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))
    assert row == {"name": name.replace("\0", "\N{REPLACEMENT CHARACTER}"), "people": "1"}


def test_json_has_the_declared_fields(capsys: pytest.CaptureFixture[str]) -> None:
    render.as_json(CITIES)
    assert json.loads(capsys.readouterr().out)[1] == {"name": "Reykjavík", "people": 139_000}


def test_what_is_said_to_a_person_is_not_data(capsys: pytest.CaptureFixture[str]) -> None:
    render.say("hello")
    assert capsys.readouterr() == ("", "hello\n")


def test_a_narrow_terminal_leaves_optional_columns_out_instead_of_breaking_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = (*COLUMNS, Column("people", lambda city: city.people, title="census", optional=True))
    shown = {}
    for width in (80, 25):
        monkeypatch.setenv("COLUMNS", str(width))
        stream = Terminal()
        render.as_table(CITIES, columns, stream)
        shown[width] = stream.getvalue()
    assert "census" in shown[80].splitlines()[0]
    assert "census" not in shown[25].splitlines()[0]
    assert "Reykjavík" in shown[25]
    assert "no room for: census" in shown[25]
