"""The house rules of docs/architecture.md that no linter knows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rooms import parse, trespasses

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "orchestrator").rglob("*.py"))
LONGEST = 300

CHILD_SIDE = ("errors", "wire", "aws", "platforms", "launcher")
CHILD_NEEDS = {"boto3", "botocore", "s3transfer", "jmespath", "urllib3", "dateutil", "six"}


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_is_short_enough_to_be_read_at_once(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_importing_a_room_does_not_pull_in_the_rest() -> None:
    assert imported("orchestrator") <= sys.stdlib_module_names | {"orchestrator"}


def test_a_launcher_needs_boto3_and_the_standard_library_only() -> None:
    """Its image installs the package without dependencies, plus boto3."""
    found = imported("orchestrator.launcher.__main__", *map("orchestrator.{}".format, CHILD_SIDE))
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


RULES = parse(["wire: errors", "stage:", "platforms: wire", "platforms.sagemaker.stage: wire, spec", "errors:"])


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
        ("wire.task", "errors_of_ours"),
        ("a_room_without_a_line", "errors"),
    ],
)
def test_a_room_may_import_nothing_else(importer: str, imported: str) -> None:
    assert trespasses(RULES, {(importer, imported)}) == {(importer, imported)}
