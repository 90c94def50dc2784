"""The README tells the truth: its commands are run, what it shows is there, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from orchestrator.cli.program import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.+)$", README, re.MULTILINE)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

MAKE = {"make demo": "sweep demo", "make test": "-m pytest"}
"""What each target comes to; `sweep demo` has a test of its own, and you are looking at the other."""


def test_every_command_is_one_that_is_tested_here() -> None:
    assert set(COMMANDS) == set(MAKE) | set(by_hand())


def by_hand() -> list[str]:
    """The first block below its heading."""
    block = README.partition("\n## By hand\n")[2].partition("```console\n")[2].partition("```")[0]
    return [line.removeprefix("$ ") for line in block.splitlines()]


@pytest.mark.parametrize("command", MAKE)
def test_make_does_what_the_readme_says(command: str) -> None:
    recipe = subprocess.run(
        [*command.split(), "--dry-run", "--assume-old=pyproject.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert MAKE[command] in recipe.stdout


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of someone who has installed sweep, and nothing else. No cloud outlives the test."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SWEEP_", "XDG_"))}
    environment = inherited | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path / "home")}
    yield environment
    subprocess.run(["sweep", "local", "down"], env=environment, capture_output=True, check=True)


def test_the_commands_by_hand_lead_from_nothing_to_results(newcomer: dict[str, str], tmp_path: Path) -> None:
    printed = typed_into_one_shell(by_hand(), tmp_path, newcomer)
    submitted = next(command for command in by_hand() if command.startswith("sweep submit"))
    assert "12/12 done" in printed[submitted]
    assert printed["sweep results"].count("done") == 12
    assert {"eu-central-1", "eu-west-1"} & set(printed["sweep cost"].split())


def typed_into_one_shell(commands: list[str], folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """What each prints, in a folder that is empty; the first that fails ends it."""
    (folder / "empty").mkdir()
    script = "\n".join(["set -e", *(f"{{ {command}\n}} >../{number}" for number, command in enumerate(commands))])
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder / "empty", env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = {command: (folder / str(number)).read_text() for number, command in enumerate(commands)}
    return {command: text + (done.stderr if "--watch" in command else "") for command, text in printed.items()}


def test_the_sweep_it_shows_is_the_demos() -> None:
    shown = re.search(r"```yaml\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    assert shown[1] == (ROOT / "orchestrator" / "demo" / "sweep.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_imports_is_there(page: Path) -> None:
    imports = re.findall(r"^ *from (orchestrator[\w.]*) import (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    names = [(module, name) for module, listed in imports for name in listed.split(", ")]
    assert [f"{module}.{name}" for module, name in names if not hasattr(import_module(module), name)] == []


def mentioned() -> set[str]:
    """Every command between backticks on any page."""
    lines = (line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines())
    code = (part for line in lines for part in line.split("`")[1::2])
    return {found[0] for part in code if (found := re.search(r"\bsweep [a-z].*", part))}


@pytest.mark.parametrize("mention", sorted(mentioned()))
def test_a_command_mentioned_anywhere_is_one_that_there_is(mention: str) -> None:
    """Names and options are real; placeholders for files and numbers need not be."""
    words = shlex.split(mention.partition(">")[0].rstrip(')"'))[1:]
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known
