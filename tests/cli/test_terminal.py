"""Questions, colours and the live table, on a real terminal."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pexpect
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def terminal() -> Iterator[Callable[..., pexpect.spawn[str]]]:
    """`sweep` with the fake orchestrator, on a terminal of its own."""
    started: list[pexpect.spawn[str]] = []

    def start(*arguments: str, fake: str = "", **environment: str) -> pexpect.spawn[str]:
        shown = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        child: pexpect.spawn[str] = pexpect.spawn(
            sys.executable,
            ["-m", "tests.cli.fake", *arguments],
            env=shown | {"FAKE": fake, "TERM": "xterm-256color"} | environment,
            encoding="utf-8",
            timeout=20,
            dimensions=(40, 120),
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def ended(child: pexpect.spawn[str]) -> tuple[int | None, str]:
    """The exit code, and what was shown since the last thing expected."""
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, child.before or ""


@pytest.mark.parametrize("answer", ["y", pytest.param("YES", marks=pytest.mark.long)])
def test_a_yes_goes_ahead(terminal, answer: str) -> None:
    child = terminal("cancel")
    child.expect_exact("Stop nightly, all that runs of it? [y/N] ")
    child.sendline(answer)
    code, shown = ended(child)
    assert code == 0
    assert "2 cancelled" in shown


LONG = pytest.mark.long


@pytest.mark.parametrize("answer", [pytest.param("", marks=LONG), pytest.param("n", marks=LONG), "maybe"])
def test_anything_else_does_nothing(terminal, answer: str) -> None:
    child = terminal("cancel")
    child.expect_exact("[y/N] ")
    child.sendline(answer)
    code, shown = ended(child)
    assert code == 1
    assert shown.endswith("nothing was done\r\n")
    assert "2 cancelled" not in shown


def test_an_end_of_input_is_a_no(terminal) -> None:
    child = terminal("cancel")
    child.expect_exact("[y/N] ")
    child.sendeof()
    code, shown = ended(child)
    assert (code, shown.strip()) == (1, "nothing was done")


def test_ctrl_c_at_the_question_is_130(terminal) -> None:
    child = terminal("cancel")
    child.expect_exact("[y/N] ")
    child.sendintr()
    code, shown = ended(child)
    assert code == 130
    assert shown.endswith("\r\ninterrupted\r\n")


def test_tables_have_colour_unless_no_color_asks_for_none(terminal) -> None:
    assert "\x1b[32m" in ended(terminal("results"))[1]
    assert not re.search(r"\x1b\[3\dm", ended(terminal("results", NO_COLOR="1"))[1])


def test_a_dumb_terminal_gets_plain_text(terminal) -> None:
    assert "\x1b" not in ended(terminal("results", TERM="dumb"))[1]


def test_watching_is_a_live_table_that_ctrl_c_leaves_in_place(terminal) -> None:
    child = terminal("watch", fake="endless")
    child.expect_exact("eu-west-1")
    child.sendintr()
    code, shown = ended(child)
    assert code == 130
    assert "interrupted: nightly goes on" in ESCAPE.sub("", shown)
    assert "\x1b[?25h" in shown, "the cursor is shown again"


def test_an_error_on_a_terminal_is_still_one_line(terminal) -> None:
    code, shown = ended(terminal("status", "weekly"))
    assert code == 2
    assert ESCAPE.sub("", shown) == "error: no run 'weekly' (`sweep runs` lists them)\r\n"
