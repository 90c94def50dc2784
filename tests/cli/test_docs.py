from __future__ import annotations

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
OF_OTHERS = {"sweep-file.md", "bring-your-own-script.md", "adding-a-platform.md", "training.md", "reliability.md"}
"""Pages that also name options of users' scripts, of pip, of mpirun and of the campaign."""
OPTION = r"--[a-z][\w-]+"


def test_the_page_of_commands_is_current() -> None:
    page = runpy.run_path(str(DOCS / "write_cli.py"))["page"]()
    assert page == (DOCS / "cli.md").read_text(encoding="utf-8"), "python docs/write_cli.py writes it anew"


def test_options_that_pages_name_are_those_of_a_command() -> None:
    known = {"--help", *re.findall(OPTION, (DOCS / "cli.md").read_text(encoding="utf-8"))}
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        named = {
            option for code in re.findall(rf"`((?:sweep |{OPTION})[^`]*)`", text) for option in re.findall(OPTION, code)
        }
        assert page.name in OF_OTHERS or named <= known, f"{page.name} names {sorted(named - known)}"
