"""The README tells the truth: its commands are run, what it shows is there, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pexpect
import pytest
import typer

from orchestrator.cli.commands import app
from orchestrator.localcloud import LocalCloud

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.+)$", README, re.MULTILINE)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

MAKE = {"make demo": "sweep demo", "make test": "-m pytest"}
"""What each target comes to; `sweep demo` has a test of its own, and you are looking at the other."""


def test_every_command_is_one_that_is_tested_here() -> None:
    assert set(COMMANDS) == set(MAKE) | set(by_hand())


def by_hand() -> list[str]:
    return [command for command in COMMANDS if command.startswith("sweep ")]


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
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A local AWS where the data lies that `sweep init` tells of."""
    with LocalCloud(tmp_path / "aws", regions=("us-east-1", "eu-central-1", "eu-north-1")) as cloud:
        for region in ("eu-central-1", "eu-north-1"):
            s3 = boto3.client("s3", region_name=region, endpoint_url=cloud.endpoint, **KEYS)
            s3.create_bucket(Bucket=f"example-{region}", CreateBucketConfiguration={"LocationConstraint": region})
            for campaign in ("berlin-winter", "oslo-night"):
                s3.put_object(Bucket=f"example-{region}", Key=f"campaigns/{campaign}/v1/drive.bin", Body=b"data")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SWEEP_"))}
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        yield clean | cloud.environment | {"PATH": path, "SWEEP_POLL_S": "1", "HOME": str(tmp_path)}


KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}


def test_the_commands_by_hand_lead_from_nothing_to_results(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    printed = {}
    for command in by_hand():
        shell = pexpect.spawn("/bin/sh", ["-c", command], cwd=folder, env=environment, encoding="utf-8", timeout=180)
        if "submit" in command:
            shell.expect(r"\[y/N\] ")
            shell.sendline("y")
        shell.expect(pexpect.EOF)
        printed[command] = shell.before or ""
        shell.close()
        assert shell.exitstatus == 0, printed[command]
        if command == "sweep init":
            use_an_image_of_our_own(folder / "sweep.yaml")
    assert "12/12 done" in printed["sweep submit plan.json --watch"]
    assert printed["sweep results"].count("done") == 12
    assert "eu-north-1" in printed["sweep cost"]


def use_an_image_of_our_own(sweep: Path) -> None:
    """AWS's images are looked up by an optional extra."""
    text, count = re.subn(r"framework: \{[^}]*\}", 'image: "mine:1"', sweep.read_text(encoding="utf-8"), count=1)
    assert count == 1
    sweep.write_text(text, encoding="utf-8")


def test_the_sweep_it_shows_is_the_demos() -> None:
    shown = re.search(r"```yaml\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    assert shown[1] == (ROOT / "orchestrator" / "demo" / "sweep.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


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
