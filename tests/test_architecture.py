"""The house rules of docs/architecture.md that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import grimp
import pytest

from orchestrator.platforms import registry
from tests.rooms import into_platforms, parse, trespasses

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "orchestrator"
MODULES = sorted(HOUSE.rglob("*.py"))
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST = 300
FRAGMENT = re.compile(
    r"(Of|As|That|The same|None of|For|By|With|In|At|To|Where|Whether|How|And|But|Or|If|So|Until|Unless|Beyond|From|On"
    r"|Those)\b"
)
"""How a docstring begins that is no whole sentence."""

CHILD_SIDE = ("errors", "wire", "aws", "platforms", "launcher")
CHILD_NEEDS = {"boto3", "botocore", "s3transfer", "jmespath", "urllib3", "dateutil", "six"}


def test_a_module_is_short_enough_to_be_read_at_once() -> None:
    lengths = {shown(file): len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_a_docstring_begins_as_a_sentence() -> None:
    assert [(shown(file), text) for file in MODULES for text in docstrings(file) if FRAGMENT.match(text)] == []


def shown(file: Path) -> str:
    return file.relative_to(HOUSE).as_posix()


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def docstrings(file: Path) -> Iterator[str]:
    """Every docstring of a module, and every text below an attribute."""
    for node in ast.walk(parsed(file)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text.strip()


def test_no_two_modules_import_each_other_even_by_a_detour() -> None:
    """Imports for type checkers count: two files that need each other's types are one idea, or three."""
    graph = grimp.build_graph("orchestrator", exclude_type_checking_imports=False, cache_dir=None)
    needed = {module: graph.find_upstream_modules(module) for module in graph.modules}
    circles = {(a, b) for a in needed for b in needed[a] if a < b and a in needed[b]}
    assert circles == set()


def test_the_picture_of_the_house_shows_the_rooms_that_there_are() -> None:
    assert sorted(drawn_rooms()) == sorted(rooms())


def drawn_rooms() -> Iterator[str]:
    """Paths below `orchestrator/` as the picture draws them: a room's own rooms are indented below it."""
    picture = PAGE.partition("    orchestrator/\n")[2].partition("\n\n")[0]
    outer = ""
    for indent, name in re.findall(r"^( {6}| {8})([a-z_0-9]+(?:\.py|/))", picture, re.MULTILINE):
        if len(indent) == 6:
            outer = name
            yield name
        else:
            yield outer + name


def rooms() -> Iterator[str]:
    """Modules and packages of `orchestrator/`, and the packages in these."""
    for file in MODULES:
        path = file.relative_to(HOUSE)
        if file.name == "__init__.py" and len(path.parts) in (2, 3):
            yield f"{path.parent.as_posix()}/"
        if file.name != "__init__.py" and len(path.parts) == 1:
            yield file.name


def test_a_file_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`([\w./-]+(?:\.py|\.sql|/))`", PAGE))
    assert {path for path in named if not ((HOUSE / path).exists() or (ROOT / path).exists())} == set()


@pytest.mark.parametrize(("path", "name"), re.findall(r"\| `([\w./]+\.py)` \| `([\w.]+)` \|", PAGE))
def test_what_the_page_says_to_be_in_a_file_is_in_it(path: str, name: str) -> None:
    text = (HOUSE / path).read_text(encoding="utf-8")
    for part in name.split("."):
        assert re.search(rf"^ *(?:def|class) {part}\b|^{part}\b", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_that_any_page_names_in_full_is_there(page: Path) -> None:
    tops = "orchestrator|tests|sql|docs|examples|containers|benchmarks"
    named = re.findall(rf"`((?:{tops})/[\w./+-]*)`", page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_importing_a_room_does_not_pull_in_the_rest() -> None:
    assert imported("orchestrator") <= sys.stdlib_module_names | {"orchestrator"}


def test_a_launcher_needs_boto3_and_the_standard_library_only() -> None:
    """Its image installs the package without dependencies, plus boto3."""
    runners = [
        entry.module for entry in entry_points(group=registry.RUNNERS) if entry.module.startswith("orchestrator.")
    ]
    found = imported("orchestrator.launcher.__main__", *map("orchestrator.{}".format, CHILD_SIDE), *runners)
    assert found - sys.stdlib_module_names - {"orchestrator"} <= CHILD_NEEDS


def imported(*modules: str) -> set[str]:
    """Top-level names of all that these imports load, in an interpreter of their own."""
    code = f"import sys; before = set(sys.modules); import {', '.join(modules)}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_the_project_names_no_package_index_and_no_machine() -> None:
    hosts = "|".join(["pypi" + r"\.org", "python" + "hosted", "conda" + r"\.anaconda", "download" + r"\.pytorch"])
    paths = "|".join(["/ro" + "ot/", "/ho" + "me/[a-z]", "/Us" + "ers/", "/opt/wh" + "eels"])
    forbidden = re.compile(f"{hosts}|{paths}")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    guilty = [name for name in listed.splitlines() if (text := read(ROOT / name)) and forbidden.search(text)]
    assert guilty == []


def read(file: Path) -> str:
    """Its text; nothing of a file that is not text, or that is about to be removed."""
    try:
        return file.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError):
        return ""


PLATFORMS = {*registry.platforms(), "ec2"}
"""Their keys: of those that are installed, and of the one whose prices stand in for others."""
OWN_KEYS = (HOUSE / "platforms", HOUSE / "localcloud", HOUSE / "demo")
"""Where platforms are named: their own folders, the registry's default, and the AWS services that they use."""
NOT_A_PLATFORM = {
    "aws/session.py": {"sagemaker"},
    "aws/model_packages.py": {"sagemaker"},
    "aws/account/networks.py": {"ec2"},
    "aws/account/enabled_regions.py": {"ec2"},
}
"""Words that are no platform's key, though they are spelt like one: here, the name of a service of AWS."""


def test_nobody_compares_with_a_platform_s_key() -> None:
    for file in MODULES:
        if not any(map(file.is_relative_to, OWN_KEYS)):
            words = {node.value for node in ast.walk(parsed(file)) if isinstance(node, ast.Constant)}
            assert words & PLATFORMS - NOT_A_PLATFORM.get(shown(file), set()) == set(), file


@pytest.mark.parametrize("file", sorted((ROOT / "sql").glob("*.sql")), ids=lambda file: file.name)
def test_no_query_compares_with_a_platform_s_key(file: Path) -> None:
    assert set(re.findall(r"'([^']*)'", file.read_text(encoding="utf-8"))) & PLATFORMS == set()


RULES = parse(["wire: errors", "stage:", "platforms: wire", "platforms.*.*: wire, spec", "errors:"])


@pytest.mark.parametrize(
    ("importer", "imported"),
    [("wire.task", "errors"), ("platforms.base", "wire.task"), ("platforms.sagemaker.stage", "spec.sweep")],
)
def test_a_room_may_import_what_its_line_names(importer: str, imported: str) -> None:
    assert trespasses(RULES, {(importer, imported)}) == set()


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("errors", "wire.task"),
        ("platforms.base", "spec.sweep"),
        ("platforms.sagemaker.stage", "errors"),
        ("platforms.sagemaker", "spec.sweep"),
        ("wire.task", "errors_of_ours"),
        ("a_room_without_a_line", "errors"),
    ],
)
def test_a_room_may_import_nothing_else(importer: str, imported: str) -> None:
    assert trespasses(RULES, {(importer, imported)}) == {(importer, imported)}


@pytest.mark.parametrize("importer", ["runs.cloud", "platforms.registry", "platforms.ec2.runner"])
def test_nobody_outside_may_import_a_platform_s_modules(importer: str) -> None:
    shared = {(importer, "platforms.base"), (importer, "platforms.bare.template")}
    inside = {("platforms.sagemaker.runner", "platforms.sagemaker.request"), *shared}
    assert into_platforms(inside) == set()
    outside = {(importer, "platforms.sagemaker.request")}
    assert into_platforms(inside | outside) == outside
